"""Turns changes into events, once for all streams, and wakes the streams.

It runs beside the engine, which only notes what changed. Changes that arrive while a round is handed out form the
next round, where several changes of one job are one event. Rounds are cut into slices, and the loop serves requests
between slices. A stream only has a position in the backlog, so its memory is bounded, and the slowest stream
does not delay the others.

The live feed forms rounds as well. Only one round at a time is formed and handed out: an older text never follows a
newer one, and no stream loses a large round that it has not had the time to take.
"""

from __future__ import annotations

import asyncio
import logging
from itertools import islice
from typing import TYPE_CHECKING

from tarmac.api.sse import events, live_events
from tarmac.api.sse.backlog import Backlog, Entry, pieces
from tarmac.api.sse.live_feed import LiveFeed
from tarmac.api.wording.catalogue.dialect import use
from tarmac.controller.publisher import GpusChanged, JobChanged, JobsRemoved, Missed, QueueChanged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tarmac.api.sse.stream import EventStream
    from tarmac.api.wording.catalogue.dialect import Dialect
    from tarmac.controller.controller import Controller
    from tarmac.controller.publisher import Notice

log = logging.getLogger(__name__)

PING_EVERY_S = 15.0
STALLED_S = 60.0  # a stream that could not be written to for so long is dropped
LONGEST_PAUSE_S = 2.0
_JOBS_AT_ONCE = 25
_STREAMS_AT_ONCE = 10


class Broadcast:
    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.backlog = Backlog()
        self.turn = 0  # the number of the round that is being encoded, or was last
        self.is_over = False
        self._reached = 0
        self._streams: set[EventStream] = set()
        self._task: asyncio.Task[None] | None = None
        self._live: LiveFeed | None = None  # while a stream wants live events
        self._one_round = asyncio.Lock()

    def join(self, stream: EventStream) -> None:
        """From now on the stream gets every change. The first stream starts the rounds."""
        self._streams.add(stream)
        stream.position = self.backlog.end
        stream.first_turn = self.turn + 1  # a round that has begun may lack this stream's jobs or dialect
        if self._task is None:
            self._reached = self.controller.publisher.last_event
            self._task = asyncio.get_running_loop().create_task(self._run())
        if stream.is_live and self._live is None:
            self._live = LiveFeed(self.controller, self._dialects, self._send_live, self._one_round)

    def leave(self, stream: EventStream) -> None:
        self._streams.discard(stream)
        if self._live is not None and not any(other.is_live for other in self._streams):
            self._live.end()
            self._live = None
        if not self._streams and self._task is not None:
            self._task.cancel()
            self._task = None
            self.backlog = Backlog()

    async def _run(self) -> None:
        try:
            await self._rounds()
        except Exception:
            log.exception("the event stream failed; its listeners resume")
            self._task = None
            for stream in list(self._streams):
                stream.drop()

    async def _rounds(self) -> None:
        loop, publisher = asyncio.get_running_loop(), self.controller.publisher
        listener = publisher.listen()
        ping_at = loop.time() + PING_EVERY_S
        try:
            while not self.controller.is_ending:
                notices = await listener.take(max(0.0, ping_at - loop.time()))
                async with self._one_round:
                    began = loop.time()
                    before = self.backlog.end
                    await self._encode(notices)
                    if began >= ping_at:
                        ping_at = began + PING_EVERY_S
                        self._ping()
                    if self.backlog.end > before:
                        self._drop_slow(began)
                        await self._wake_streams()
                    # Many listeners take at most a fifth of the loop's time.
                    await asyncio.sleep(min(4 * (loop.time() - began), LONGEST_PAUSE_S))
        finally:
            publisher.unlisten(listener)
        self.is_over = True
        for stream in list(self._streams):
            stream.end()

    # Encode

    async def _encode(self, notices: Sequence[Notice]) -> None:
        """Append a round. The newest number comes last, on a job's event: it is the point from which to resume."""
        turn = self.turn = self.turn + 1
        found = set(notices)
        jobs = {notice.job: notice.event for notice in notices if isinstance(notice, JobChanged)}
        dialects = self._dialects()
        entries: list[Entry] = []
        nodes = sorted(notice.node for notice in found if isinstance(notice, GpusChanged))
        for node in nodes:
            entries += _for_all([events.gpu_events(self.controller, node) for _ in _each(dialects)], dialects)
        if QueueChanged() in found:
            entries += _for_all([[events.queue_event(self.controller)] for _ in _each(dialects)], dialects)
        if self._live is not None:
            self._live.note(nodes, jobs)
            entries += self._removed_entries(notices, dialects)
            entries += self._live.line_entries(dialects)
        entries += await self._job_entries(self._wanted(jobs), dialects)
        if Missed() in found:
            entries += _for_all([[events.missed()] for _ in dialects], dialects)
        reaches = self.controller.publisher.last_event if Missed() in found else max(jobs.values(), default=None)
        self._append(turn, entries, reaches)

    def _removed_entries(self, notices: Sequence[Notice], dialects: list[Dialect]) -> list[Entry]:
        gone = [job for notice in notices if isinstance(notice, JobsRemoved) for job in notice.jobs]
        if not gone:
            return []
        text = live_events.removed_event(gone)
        return [Entry(None, dict.fromkeys(dialects, text), is_live=True)]

    async def _send_live(self, entries: list[Entry]) -> None:
        self.turn += 1
        self._append(self.turn, entries, None)
        self._drop_slow(asyncio.get_running_loop().time())
        await self._wake_streams()

    def _append(self, turn: int, entries: list[Entry], reaches: int | None) -> None:
        cut = list(pieces(turn, entries))
        if cut:
            cut[-1].reaches = reaches
            cut[-1].is_last = True
        self._reached = reaches or self._reached
        for piece in cut:
            self.backlog.append(piece)

    async def _job_entries(self, jobs: list[int], dialects: list[Dialect]) -> list[Entry]:
        entries: list[Entry] = []
        rest = iter(jobs)
        while some := list(islice(rest, _JOBS_AT_ONCE)):
            texts: dict[int, dict[Dialect, bytes]] = {}
            for dialect in _each(dialects):
                for job, text in events.job_events(self.controller, some):
                    texts.setdefault(job.id, {})[dialect] = text
                    if self._live is not None and job.group is not None:
                        self._live.note_group(job.group)
            entries += [Entry(job, texts[job]) for job in some if job in texts]
            await asyncio.sleep(0)
        return entries

    def _wanted(self, jobs: Iterable[int]) -> list[int]:
        """Those that at least one stream wants."""
        wanted: set[int] = set()
        for stream in self._streams:
            if stream.jobs is None:
                return list(jobs)
            wanted |= stream.jobs
        return [job for job in jobs if job in wanted]

    def _dialects(self) -> list[Dialect]:
        return list({stream.dialect for stream in self._streams})

    def _ping(self) -> None:
        """Also moves the resume point of streams whose jobs do not change."""
        dialects = self._dialects()
        self._append(self.turn, _for_all([[events.ping()] for _ in dialects], dialects), self._reached)

    # Hand out

    def _drop_slow(self, now: float) -> None:
        """They resume from the last event that they received. Everything else would cost memory or delay the others."""
        for stream in list(self._streams):
            is_stalled = stream.blocked_since is not None and now - stream.blocked_since > STALLED_S
            if stream.position < self.backlog.first or is_stalled:
                stream.drop()

    async def _wake_streams(self) -> None:
        streams = iter(list(self._streams))
        while some := list(islice(streams, _STREAMS_AT_ONCE)):
            for stream in some:
                stream.woken.set()
            await asyncio.sleep(0)


def _each(dialects: list[Dialect]) -> Iterator[Dialect]:
    """Each dialect while it is in use."""
    for dialect in dialects:
        use(dialect)
        yield dialect


def _for_all(texts: list[list[bytes]], dialects: list[Dialect]) -> list[Entry]:
    """The texts of each dialect, in the same order as the dialects, as entries for every stream."""
    return [Entry(None, dict(zip(dialects, same, strict=True))) for same in zip(*texts, strict=True)]
