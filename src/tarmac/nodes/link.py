"""One stream to an agent: frames out, frames in, and answers matched to questions by their `ref`."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, cast

from tarmac.shared import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.to_agent import ControllerFrame, QuestionFrame


ANSWER_WITHIN_S = 10.0  # the agent gives up on a disk that does not answer before that
# Removing thousands of files takes long. Nothing may be sent that they need before it has ended.
LONG_WITHIN_S = 610.0  # the agent gives up before that
LONG = frozenset(("keep_objects", "remove_logs", "tidy_checkouts"))


class NoAnswer(Exception):
    """A question to an agent was not answered."""


class Unreachable(NoAnswer):
    """Not connected."""


class Silent(NoAnswer):
    """The agent took too long."""


class Traffic(NamedTuple):
    """Bytes on a stream so far."""

    received: int
    left: int
    waiting: int  # to leave

    def has_moved_since(self, before: Traffic) -> bool:
        """True if the other end shows itself. What leaves fills buffers at first, so it counts only after a wait."""
        return self.received > before.received or (before.waiting > 0 and self.left > before.left)


class Link(asyncio.Protocol):
    """Calls `on_frame` for each frame that does not answer a question, and `on_lost` once when the stream ends.

    `on_heard` is called whenever something arrives.
    """

    def __init__(
        self,
        on_frame: Callable[[AnyFrame], None],
        on_lost: Callable[[], None],
        on_heard: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._on_heard = on_heard
        self._decoder = protocol.Decoder()
        self._transport: asyncio.WriteTransport | None = None
        self._questions: dict[int, asyncio.Future[AnyFrame]] = {}
        self._refs = count(1)
        self._received_bytes = 0
        self._sent_bytes = 0  # some may still wait to leave

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # uvloop's transport does not inherit from it

    def data_received(self, data: bytes) -> None:
        self._received_bytes += len(data)
        self._on_heard()
        try:
            frames = self._decoder.feed(data)
        except protocol.ProtocolError:
            self.close()
            return
        for frame in frames:
            question = self._questions.pop(frame.get("ref", 0), None)
            if question is None:
                self._on_frame(frame)
            elif not question.done():
                question.set_result(frame)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._transport = None
        for question in self._questions.values():
            if not question.done():
                question.set_exception(Unreachable())
        self._questions.clear()
        self._on_lost()

    def send(self, frame: ControllerFrame) -> None:
        """Drop the frame if the agent is gone: everything that matters is settled again when it rejoins."""
        self._write(frame)

    def _write(self, frame: Mapping[str, object]) -> None:
        if self._transport is not None:
            data = protocol.encode(frame)
            self._sent_bytes += len(data)
            self._transport.write(data)

    @property
    def traffic(self) -> Traffic:
        waiting = 0 if self._transport is None else self._transport.get_write_buffer_size()
        return Traffic(self._received_bytes, self._sent_bytes - waiting, waiting)

    async def ask(self, frame: QuestionFrame) -> AnyFrame:
        """Send a question and return its answer. Raises NoAnswer if none arrives."""
        if self._transport is None:
            raise Unreachable
        ref = next(self._refs)
        answer: asyncio.Future[AnyFrame] = asyncio.get_running_loop().create_future()
        self._questions[ref] = answer
        self._write({**frame, "ref": ref})
        try:
            async with asyncio.timeout(_within_s(frame)):
                return await answer
        except TimeoutError:
            raise Silent from None
        finally:
            if self._questions.pop(ref, None) is not None and frame["type"] == "watch_log":
                self.send({"type": "unwatch_log", "ref": ref})

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _within_s(frame: QuestionFrame) -> float | None:
    """How long to wait for the answer; None: until it comes."""
    if frame["type"] == "watch_log":
        return None
    return LONG_WITHIN_S if frame["type"] in LONG else ANSWER_WITHIN_S
