"""Questions over a link: how long their answers may take."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest

from tarmac.nodes import link
from tarmac.nodes.link import Link, Silent
from tarmac.shared import protocol

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import QuestionFrame


def test_only_removals_may_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "ANSWER_WITHIN_S", 0.0)
    removal: QuestionFrame = {"type": "keep_objects", "objects": "/objects", "trees": []}

    async def story() -> None:
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        loop = asyncio.get_running_loop()
        _, asked = await loop.create_unix_connection(lambda: Link(lambda _: None, lambda: None), sock=ours)
        with pytest.raises(Silent):
            await asked.ask({"type": "list_logs"})
        answer = asyncio.ensure_future(asked.ask(removal))
        decoder, frames = protocol.Decoder(), []
        while len(frames) < 2:
            frames += decoder.feed(await loop.sock_recv(theirs, 65536))
        assert not answer.done()
        reply = {"type": "objects_kept", "ref": frames[1]["ref"], "removed": 3}
        await loop.sock_sendall(theirs, protocol.encode(reply))
        assert (await answer)["removed"] == 3
        asked.close()
        theirs.close()

    asyncio.run(story())
