"""One stream to an agent: frames out, frames in, and answers matched to questions by their `ref`."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from tarmac.errors import Unavailable
from tarmac.shared import protocol

if TYPE_CHECKING:
    from collections.abc import Callable


ANSWER_WITHIN_S = 10.0  # a log is read by the agent, and a disk may be slow


class Link(asyncio.Protocol):
    """Calls `on_frame` for each frame that is no answer, and `on_lost` once when the stream ends."""

    def __init__(self, on_frame: Callable[[dict[str, Any]], None], on_lost: Callable[[], None]) -> None:
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._decoder = protocol.Decoder()
        self._transport: asyncio.WriteTransport | None = None
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._refs = count(1)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # uvloop's is one without inheriting from it

    def data_received(self, data: bytes) -> None:
        try:
            frames = self._decoder.feed(data)
        except protocol.ProtocolError:
            self.close()
            return
        for frame in frames:
            asked = self._asked.pop(frame.get("ref", 0), None)
            if asked is None:
                self._on_frame(frame)
            elif not asked.done():
                asked.set_result(frame)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._transport = None
        for asked in self._asked.values():
            if not asked.done():
                asked.set_exception(_away())
        self._asked.clear()
        self._on_lost()

    def send(self, frame: dict[str, Any]) -> None:
        """Frames to a lost agent are dropped: what matters is settled anew when it is back."""
        if self._transport is not None:
            self._transport.write(protocol.encode(frame))

    async def ask(self, frame: dict[str, Any]) -> dict[str, Any]:
        if self._transport is None:
            raise _away()
        ref = next(self._refs)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[ref] = answer
        self.send({**frame, "ref": ref})
        try:
            async with asyncio.timeout(None if frame["type"] == "watch_log" else ANSWER_WITHIN_S):
                return await answer
        except TimeoutError:
            raise Unavailable(
                "the agent does not answer", hint="is it stopped, or the disk hanging? `tarmac log agent` says more"
            ) from None
        finally:
            if self._asked.pop(ref, None) is not None and frame["type"] == "watch_log":
                self.send({"type": "unwatch_log", "ref": ref})

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _away() -> Unavailable:
    return Unavailable("the agent is out of reach", hint="try again in a moment; `tarmac log agent` says more")
