"""A connection that breaks without a word is given up; one on which anything moves is not."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tarmac.nodes import link_watch
from tarmac.nodes.link import Link, Traffic
from tarmac.shared import protocol


class Peer:
    """The other end of the stream."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.asked = 0

    async def answer_pings(self, most: int) -> None:
        decoder = protocol.Decoder()
        loop = asyncio.get_running_loop()
        while self.asked < most:
            for frame in decoder.feed(await loop.sock_recv(self._sock, 65536)):
                if frame["type"] == "ping":
                    self.asked += 1
                    await loop.sock_sendall(self._sock, protocol.encode({"type": "pong", "ref": None}))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_watch, "LOOK_EVERY_S", 0.05)


def connected(story: Callable[[Link, asyncio.Event, Peer], Awaitable[Any]]) -> None:
    async def all_of_it() -> None:
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        lost = asyncio.Event()
        loop = asyncio.get_running_loop()
        _, link = await loop.create_unix_connection(lambda: Link(lambda _: None, lost.set), sock=ours)
        async with asyncio.timeout(60):
            await story(link, lost, Peer(theirs))
        link.close()
        await lost.wait()
        theirs.close()

    asyncio.run(all_of_it())


@pytest.mark.parametrize("is_joined", [True, False])
def test_a_peer_that_never_answers_is_given_up(is_joined: bool) -> None:
    async def story(link: Link, lost: asyncio.Event, _: Peer) -> None:
        with pytest.raises(link_watch.WentQuiet):
            await link_watch.watch(link, lost, lambda: is_joined)

    connected(story)


def test_commands_that_only_fill_buffers_do_not_hide_that_nobody_answers() -> None:
    async def story(link: Link, lost: asyncio.Event, _: Peer) -> None:
        async def send() -> None:
            while True:
                link.send({"type": "ping"})
                await asyncio.sleep(0.01)

        sending = asyncio.create_task(send())
        with pytest.raises(link_watch.WentQuiet):
            await link_watch.watch(link, lost, lambda: True)
        sending.cancel()

    connected(story)


def test_a_peer_that_answers_when_asked_is_kept() -> None:
    async def story(link: Link, lost: asyncio.Event, peer: Peer) -> None:
        watching = asyncio.create_task(link_watch.watch(link, lost, lambda: True))
        await peer.answer_pings(3)  # longer than it takes to give up one that does not answer
        assert not watching.done()
        link.close()
        await watching

    connected(story)


def test_the_end_of_the_stream_is_not_silence() -> None:
    async def story(link: Link, lost: asyncio.Event, _: Peer) -> None:
        watching = asyncio.create_task(link_watch.watch(link, lost, lambda: True))
        link.close()
        await watching

    connected(story)


@pytest.mark.parametrize(
    ("now", "has_moved"),
    [
        (Traffic(1, 0, 0), True),
        (Traffic(0, 0, 0), False),
        (Traffic(0, 5, 0), False),  # into a buffer that had room
    ],
)
def test_what_shows_that_the_other_end_is_there(now: Traffic, has_moved: bool) -> None:
    assert now.has_moved_since(Traffic(0, 0, 0)) is has_moved


def test_a_long_queue_that_gets_shorter_shows_that_the_other_end_reads() -> None:
    before = Traffic(received=0, left=1000, waiting=5000)
    assert Traffic(received=0, left=1200, waiting=4800).has_moved_since(before)
    assert not Traffic(received=0, left=1000, waiting=5030).has_moved_since(before)
