"""`python -m bench.listeners SOCKET COUNT`: opens event streams and reads them until its input ends."""

import resource
import selectors
import socket
import sys

REQUEST = b"GET /api/v1/events HTTP/1.1\r\nHost: tarmac\r\n\r\n"


def main(path: str, count: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    waiting = selectors.DefaultSelector()
    waiting.register(sys.stdin, selectors.EVENT_READ)
    silent = set()
    for _ in range(count):
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(path)
        stream.sendall(REQUEST)
        stream.setblocking(False)
        waiting.register(stream, selectors.EVENT_READ)
        silent.add(stream)
    while True:
        for key, _ in waiting.select():
            if not isinstance(key.fileobj, socket.socket):
                return
            if not key.fileobj.recv(1 << 18):
                waiting.unregister(key.fileobj)
            if silent:
                silent.discard(key.fileobj)
                if not silent:
                    print("ready", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
