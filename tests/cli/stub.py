"""A stub controller that records requests and sends prepared answers."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Stub:
    """Each answer is the raw bytes for one request; None closes the connection. `requests` are those received."""

    def __init__(self, path: Path, answers: list[bytes | None]) -> None:
        self.answers = answers
        self.requests: list[bytes] = []
        self.connections = 0
        self.closes_after: bytes | None = None  # an answer that is cut short
        folder = os.open(path.parent, os.O_PATH)  # the path may be too long for a socket address
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"/proc/self/fd/{folder}/{path.name}")
        self.listener.listen()
        os.close(folder)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                while self.answers and (request := _request(connection)):
                    self.requests.append(request)
                    answer = self.answers.pop(0)
                    if answer is None:
                        break
                    connection.sendall(answer)
                    if answer == self.closes_after:
                        break


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@contextmanager
def serving(path: Path, *answers: bytes | None) -> Iterator[Stub]:
    stub = Stub(path, list(answers))
    try:
        yield stub
    finally:
        stub.close()


def asked(stub: Stub) -> list[tuple[str, object]]:
    """`POST /gpus/drain` and its JSON, request by request."""
    found = []
    for request in stub.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        method, target, _ = head.decode().split(" ", 2)
        found.append((f"{method} {target.removeprefix('/api/v1')}", json.loads(body) if body else None))
    return found


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def chunked(*chunks: bytes) -> bytes:
    framed = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in [*chunks, b""])
    return b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + framed
