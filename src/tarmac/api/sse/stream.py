"""One listener's stream: hello, what it missed since its resume point, then every change."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING

from starlette.responses import Response

from tarmac.api.protocol import ABORT
from tarmac.api.sse import events, live_events
from tarmac.api.sse.backlog import PIECE_BYTES, Piece, join
from tarmac.api.wording.catalogue.dialect import current_dialect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from starlette.types import Receive, Scope, Send

    from tarmac.api.sse.broadcast import Broadcast

MOST_REPLAYED = 10_000  # jobs
MOST_LOOKED_AT = 100_000  # stored events, to find those jobs
_JOBS_AT_ONCE = 50


class EventStream(Response):
    """`jobs`: the jobs that are wanted, None for all. `after`: the number of the last event the client received.

    A stream that is too slow is dropped: its connection is reset, and the client resumes.
    """

    media_type = "text/event-stream"

    def __init__(
        self, broadcast: Broadcast, jobs: AbstractSet[int] | None, after: int | None, *, is_live: bool = False
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self.jobs = jobs
        self.is_live = is_live
        self.dialect = current_dialect()
        self.woken = asyncio.Event()
        self.blocked_since: float | None = None  # since when the client has not taken what was sent
        self.position = self.first_turn = 0  # set when it joins
        self._broadcast = broadcast
        self._controller = broadcast.controller
        self._after = after
        self._held: list[bytes] = []  # selected events of a round that is not complete
        self._is_gone = False
        self._cutoff = asyncio.timeout(None)

    def drop(self) -> None:
        """Interrupt the stream, even in the middle of a send."""
        self._cutoff.reschedule(asyncio.get_running_loop().time())

    def end(self) -> None:
        """The controller ends. A client that does not read must not delay it."""
        self.woken.set()
        if self.blocked_since is not None:
            self.drop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._broadcast.join(self)
        watch = asyncio.create_task(self._watch(receive))
        try:
            async with self._cutoff:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                async for data in self._events():
                    self.blocked_since = asyncio.get_running_loop().time()
                    await send({"type": "http.response.body", "body": data, "more_body": True})
                    self.blocked_since = None
                await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            abort = scope["extensions"].get(ABORT)
            if abort is not None:
                abort()
                await watch  # until the connection is gone
        finally:
            self._broadcast.leave(self)
            watch.cancel()

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True
        self.woken.set()

    async def _events(self) -> AsyncIterator[bytes]:
        last_event = self._controller.publisher.last_event
        # What a resumed stream replays is older than its hello, so hello must not move its resume point.
        yield events.with_id(events.hello(last_event), last_event if self._after is None else self._after)
        if self._after is not None:
            async for data in self._replay(self._after, last_event):
                yield data
        while not self._is_gone:
            backlog = self._broadcast.backlog
            if self.position < backlog.first:
                raise TimeoutError  # as `drop` does, whose cut-off may come after the send that was under way
            piece = backlog.piece(self.position)
            if piece is not None:
                self.position += 1
                if piece.turn >= self.first_turn and (data := self._text(piece)):
                    yield data
            elif self._broadcast.is_over:
                return
            else:
                self.woken.clear()
                await self.woken.wait()

    def _text(self, piece: Piece) -> bytes:
        if self.jobs is None:
            return piece.whole(self.dialect, is_live=self.is_live)
        self._held += piece.selected(self.dialect, self.jobs, is_live=self.is_live)
        if piece.is_last:
            data, self._held = join(self._held, piece.reaches), []
        elif sum(map(len, self._held)) > PIECE_BYTES:
            data, self._held = b"".join(self._held[:-1]), self._held[-1:]  # the last one may become the resume point
        else:
            data = b""
        return data

    async def _replay(self, after: int, last_event: int) -> AsyncIterator[bytes]:
        """The changes since the resume point, or `missed` if they are too many or the number is of another database."""
        changed = self._changed_since(after, last_event)
        groups: set[int] = set()
        if changed is None:
            yield events.with_id(events.missed(), last_event)
        else:
            rest = iter(changed)
            while some := dict(islice(rest, _JOBS_AT_ONCE)):
                found = list(events.job_events(self._controller, list(some)))
                groups.update(job.group for job, _ in found if job.group is not None)
                yield b"".join(events.with_id(text, some[job.id]) for job, text in found)
                await asyncio.sleep(0)
        yield b"".join([*events.gpu_events(self._controller), events.queue_event(self._controller)])
        if self.is_live and changed is not None:  # a client that missed something reads all of it again
            for data in self._live_state(after, groups):
                yield data
                await asyncio.sleep(0)

    def _live_state(self, after: int, groups: Iterable[int]) -> Iterator[bytes]:
        """What has no number, as it is now. The removals since `after` are known: see `_changed_since`."""
        if removed := self._controller.publisher.removals.since(after):
            yield live_events.removed_event(removed)
        yield from live_events.line_events(self._controller)
        yield from live_events.group_events(self._controller, groups)
        yield live_events.nodes_event(self._controller)
        yield live_events.progress_event(self._controller, live_events.at_work(self._controller))

    def _changed_since(self, after: int, last_event: int) -> list[tuple[int, int]] | None:
        """(job, number of its newest event), oldest first. None if that is not known or too much."""
        if not last_event - MOST_LOOKED_AT <= after <= last_event:
            return None
        if self.is_live and self._controller.publisher.removals.since(after) is None:
            return None
        found = self._controller.store.reader.jobs_changed_after(after, MOST_REPLAYED + 1)
        if len(found) > MOST_REPLAYED:
            return None
        return [(job, event) for event, job in found if self.jobs is None or job in self.jobs]
