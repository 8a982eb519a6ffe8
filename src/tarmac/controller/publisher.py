"""Publishes changes to listeners: the event streams, and requests that wait for a job or a GPU.

Publishing costs as much as there are listeners concerned. A listener to everything that does not keep up gets `Missed`
and must fetch the state again, so that it cannot fill the memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Sequence

    from tarmac.core.changes import Changes
    from tarmac.core.model.ids import JobId, NodeName

MOST_PENDING = 10_000
MOST_REMOVALS = 10_000  # jobs
ANSWERED_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class JobChanged:
    job: JobId
    event: int  # id of the newest stored event, for resuming


@dataclass(frozen=True, slots=True)
class GpusChanged:
    node: str


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """It was paused, drained or resumed, an owner was suspended or resumed, or the notice changed."""


@dataclass(frozen=True, slots=True)
class JobsRemoved:
    """Ended jobs are gone from the history."""

    jobs: tuple[JobId, ...]


@dataclass(frozen=True, slots=True)
class Missed:
    """More was published than the listener took in time."""


Notice: TypeAlias = JobChanged | GpusChanged | QueueChanged | JobsRemoved | Missed


@dataclass(slots=True, eq=False)
class Listener:
    jobs: Collection[int] | None  # None: everything is of interest
    pending: deque[Notice] = field(default_factory=deque)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, notice: Notice) -> None:
        if len(self.pending) >= MOST_PENDING:
            self.pending.clear()
            notice = Missed()
        self.pending.append(notice)
        self.woken.set()

    async def take(self, timeout_s: float) -> list[Notice]:
        """Everything that is pending; empty after the timeout."""
        try:
            async with asyncio.timeout(timeout_s):
                await self.woken.wait()
        except TimeoutError:
            return []
        self.woken.clear()
        taken = list(self.pending)
        self.pending.clear()
        return taken


class Removals:
    """The newest removals. They are not stored events, so a client that resumes is told about them from here."""

    def __init__(self, last_event: int) -> None:
        self._noted: deque[tuple[int, Sequence[JobId]]] = deque()
        self._count = 0
        self._forgotten = last_event  # what was removed up to this event is not known

    def note(self, event: int, jobs: Sequence[JobId]) -> None:
        self._noted.append((event, jobs))
        self._count += len(jobs)
        while self._count > MOST_REMOVALS:
            self._forgotten, oldest = self._noted.popleft()
            self._count -= len(oldest)

    def since(self, event: int) -> list[JobId] | None:
        """The jobs removed since this event; None if that is no longer known."""
        if event <= self._forgotten:
            return None
        return [job for at, jobs in self._noted if at >= event for job in jobs]


def _nodes_with_other_gpus(changes: Changes) -> list[NodeName]:
    """Those whose GPUs were drained, resumed or reserved."""
    reserved = (one.node for one in changes.reservations.values() if one is not None)
    return list(dict.fromkeys((*(node for node, _ in changes.gpus), *reserved)))


class Publisher:
    def __init__(self, last_event: int = 0) -> None:
        self.last_event = last_event  # id of the newest stored event
        self.removals = Removals(last_event)
        self._turns = asyncio.Semaphore(ANSWERED_AT_ONCE)
        self._to_everything: set[Listener] = set()
        self._to_job: dict[int, set[Listener]] = {}

    def listen(self, jobs: Collection[int] | None = None) -> Listener:
        """Listen to changes of these jobs, or to everything."""
        listener = Listener(jobs)
        if jobs is None:
            self._to_everything.add(listener)
        for job in jobs or ():
            self._to_job.setdefault(job, set()).add(listener)
        return listener

    def unlisten(self, listener: Listener) -> None:
        self._to_everything.discard(listener)
        for job in listener.jobs or ():
            listening = self._to_job.get(job, set())
            listening.discard(listener)
            if not listening:
                self._to_job.pop(job, None)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A turn to answer. Thousands that wait for one job are answered in slices, with other requests in between."""
        async with self._turns:
            yield
            await asyncio.sleep(0)

    def publish(self, notices: Iterable[Notice]) -> None:
        if not self._to_everything and not self._to_job:
            return
        published = list(notices)
        for listener in self._to_everything:
            for notice in published:
                listener.put(notice)
        if self._to_job:
            for notice in published:
                if isinstance(notice, JobChanged):
                    for listener in self._to_job.get(notice.job, ()):
                        listener.put(notice)

    def publish_changes(self, changes: Changes, removed: Sequence[JobId] = ()) -> None:
        """Publish what a commit changed."""
        self.last_event += len(changes.new) + len(changes.story)
        if removed:
            self.removals.note(self.last_event, removed)
            self.publish([JobsRemoved(tuple(removed))])
        changed = dict.fromkeys((*(job.id for job in changes.new), *changes.changed, *changes.relabelled))
        self.publish(JobChanged(job, self.last_event) for job in changed)
        self.publish(GpusChanged(node) for node in _nodes_with_other_gpus(changes))
        if changes.mode is not None or changes.suspended:
            self.publish([QueueChanged()])
            self.wake_all()  # who waits for jobs says that the queue is paused

    def wake_all(self) -> None:
        """Wake every listener, so that it notices that the controller ends, or can no longer write."""
        for listener in self._to_everything.union(*self._to_job.values()):
            listener.woken.set()
