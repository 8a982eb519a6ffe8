"""Connections over one stream: bytes, ends, and readers who pause."""

import os
import select
import socket
import threading
from collections.abc import Iterator

import pytest

from tarmac.shared.channels import DATA, WINDOW, Channels, Opened

LARGE = os.urandom(1 << 16) * 64  # more than a window, and than the buffers of sockets


class Ends:
    """Two ends. `accepted` are the far sockets of the channels, in the order of their opening."""

    def __init__(self) -> None:
        self.accepted: list[socket.socket] = []
        self.refusal: bytes | None = None
        near, far = socket.socketpair()
        self.stream = far.dup()
        near_fd, far_fd = near.detach(), far.detach()
        self.near = Channels(near_fd, near_fd, lambda _: (b"", None))
        self.far = Channels(far_fd, far_fd, self._accept)
        self.threads = [threading.Thread(target=end.run) for end in (self.near, self.far)]
        for thread in self.threads:
            thread.start()

    def _accept(self, content: bytes) -> Opened:
        if self.refusal is not None:
            return self.refusal, None
        inner, outer = socket.socketpair()
        outer.settimeout(30)
        self.accepted.append(outer)
        return b"hello " + content + b"\n", inner.detach()

    def open(self, content: bytes = b"you") -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.settimeout(30)
        self.near.open(theirs.detach(), content)
        return ours

    def pair(self) -> tuple[socket.socket, socket.socket]:
        """Both sockets of a new channel."""
        near = self.open()
        assert read(near, 10) == b"hello you\n"
        return near, self.accepted[-1]

    def end(self) -> None:
        """As when ssh ends."""
        self.stream.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(30)
            assert not thread.is_alive()


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.end()
    made.stream.close()
    for accepted in made.accepted:
        accepted.close()


def read(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (more := source.recv(1 << 20)):
        data += more
    return data


def is_silent(source: socket.socket) -> bool:
    return not select.select([source], [], [], 0)[0]


def test_bytes_go_both_ways(ends: Ends) -> None:
    near, far = ends.pair()
    with near:
        near.sendall(b"question")
        assert read(far, 8) == b"question"
        far.sendall(b"answer")
        assert read(near, 6) == b"answer"


def test_much_data_arrives_whole_in_both_directions_at_once(ends: Ends) -> None:
    near, far = ends.pair()
    got: dict[str, bytes] = {}

    def take(name: str, source: socket.socket) -> None:
        got[name] = read(source, len(LARGE))

    threads = [threading.Thread(target=take, args=("near", near)), threading.Thread(target=take, args=("far", far))]
    threads += [threading.Thread(target=one.sendall, args=(LARGE,)) for one in (near, far)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    near.close()
    assert got == {"near": LARGE, "far": LARGE}


def test_a_reader_who_pauses_stops_only_its_own_channel(ends: Ends) -> None:
    slow, feeding = ends.pair()
    sender = threading.Thread(target=feeding.sendall, args=(LARGE,))
    sender.start()
    quick, other = ends.pair()
    for _ in range(3):
        other.sendall(b"x" * WINDOW)
        assert len(read(quick, WINDOW)) == WINDOW
    assert read(slow, len(LARGE)) == LARGE
    sender.join(30)
    quick.close()
    slow.close()


def test_half_of_a_connection_can_end_first(ends: Ends) -> None:
    near, far = ends.pair()
    with near:
        near.sendall(b"all")
        near.shutdown(socket.SHUT_WR)
        assert read(far, 100) == b"all"  # and the end
        far.sendall(b"done")
        far.shutdown(socket.SHUT_WR)
        assert read(near, 100) == b"done"


@pytest.mark.parametrize("closes", ["near", "far"])
def test_a_closed_socket_closes_the_other_one(ends: Ends, closes: str) -> None:
    near, far = ends.pair()
    closing, other = (near, far) if closes == "near" else (far, near)
    closing.close()
    assert read(other, 1) == b""
    near.close()


def test_what_was_sent_before_a_close_arrives(ends: Ends) -> None:
    near, far = ends.pair()
    sender = threading.Thread(target=lambda: (far.sendall(LARGE), far.close()))
    sender.start()
    assert read(near, len(LARGE) + 1) == LARGE
    sender.join(30)
    near.close()


def test_an_answer_before_the_end_of_a_request_arrives(ends: Ends) -> None:
    """As when the controller refuses a request that is too large, and does not read all of it."""
    near, far = ends.pair()
    sending = threading.Thread(target=send_all, args=(near, LARGE))
    sending.start()
    assert far.recv(10) == LARGE[:10]
    far.sendall(b"refused")
    far.close()
    assert read(near, 7) == b"refused"
    sending.join(30)
    near.close()


def send_all(target: socket.socket, data: bytes) -> None:
    try:
        target.sendall(data)
    except OSError:
        pass  # the other end does not read on


def test_a_channel_that_is_refused_says_why_and_ends(ends: Ends) -> None:
    ends.refusal = b"no\n"
    with ends.open() as near:
        assert read(near, 100) == b"no\n"


def test_every_channel_ends_with_the_stream(ends: Ends) -> None:
    near, _ = ends.pair()
    ends.end()
    assert read(near, 1) == b""
    near.close()
    assert ends.near.is_over
    with ends.open() as late:
        assert read(late, 1) == b""


@pytest.mark.parametrize("damage", [b"SSH-2.0-noise\r\n", bytes([DATA, 0, 0, 0, 1, 255, 255, 255, 255])])
def test_a_damaged_stream_ends(ends: Ends, damage: bytes) -> None:
    near, _ = ends.pair()
    ends.stream.sendall(damage)
    assert read(near, 1) == b""
    near.close()
