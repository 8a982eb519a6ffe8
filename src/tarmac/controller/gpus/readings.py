"""The GPUs as last read: turns readings into events of the core and keeps the books on what was used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.gpus import usage_kept
from tarmac.controller.gpus.foreign_processes import taken_by_jobs, use_of
from tarmac.controller.gpus.ignored import KEPT_AS, IgnoredPids, start_of, this_boot
from tarmac.controller.gpus.usage import MINUTE_S, UsageBook
from tarmac.controller.gpus.usage_kept import books_in
from tarmac.controller.publisher import GpusChanged
from tarmac.core.events import NodeSampled, TimePassed
from tarmac.core.handlers.health import FRESH_S
from tarmac.core.model.ids import GpuUuid, JobId

if TYPE_CHECKING:
    import asyncio

    from tarmac.controller.engine import Engine
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.nodes.reports import GpuReading, HostReading
    from tarmac.store.writer import Usage

TICK_S = 5.0
DAY_S = 86400
DAYS_KEPT = 90  # of minutes, on disk


class GpuBoard:
    def __init__(self, engine: Engine) -> None:
        self.readings: dict[NodeName, list[GpuReading]] = {}
        self.errors: dict[NodeName, str | None] = {}
        kept = engine.store.reader.settings()
        self.ignored_pids = IgnoredPids(kept.get(KEPT_AS), this_boot(), start_of)
        self.usage = UsageBook(books_in(kept.get(usage_kept.KEPT_AS), engine.state.jobs))
        self._engine = engine
        self._hosts: dict[NodeName, HostReading | None] = {}
        self._posted: dict[NodeName, NodeSampled] = {}
        self._renewed: dict[NodeName, float] = {}  # when the same was read again
        self._timer: asyncio.TimerHandle | None = None
        self._minute = 0
        self._day = 0

    def take(self, node: NodeName, readings: list[GpuReading], host: HostReading | None, error: str | None) -> None:
        self.readings[node] = readings
        self.errors[node] = error
        self.ignored_pids.prune()
        self._hosts[node] = host
        self.usage.read(node, readings, self._jobs_with_gpus(), self._engine.now())
        self._sample(node)
        self.renew(node)
        self._engine.publisher.tell([GpusChanged(node)])
        self.tick_later()

    def renew(self, node: NodeName) -> None:
        """It was read again, if only to find the same. The core hears of that when something waits for time."""
        self._renewed[node] = self._engine.now()
        self.usage.confirm(node, self._engine.now())

    def refresh(self) -> None:
        """What counts as outside use was changed."""
        for node in self.readings:
            self._sample(node)

    def settle(self) -> None:
        """Book the time until now, while it is still known who has which GPU."""
        self.usage.settle(self._jobs_with_gpus(), self._engine.now())

    def so_far(self) -> dict[str, str | None]:
        """What running jobs took, for the store. Kept every minute, and when the controller ends."""
        return {usage_kept.KEPT_AS: usage_kept.text_of(self.usage.jobs)}

    def took(self, ended: list[Job]) -> list[Usage]:
        """What these jobs took, once they have ended. Known here until it is on disk: nobody is told of none."""
        return [usage for job in ended if (usage := self.usage.of(job.id)) is not None]

    def kept(self, usages: list[Usage]) -> None:
        for usage in usages:
            self.usage.forget(JobId(usage.job))

    def _sample(self, node: NodeName) -> None:
        host = self._hosts.get(node)
        sampled = NodeSampled(
            node=node,
            uses=tuple(
                (
                    GpuUuid(reading.uuid),
                    use_of(reading, self._engine.settings, self.ignored_pids, self._holders(node, reading)),
                )
                for reading in self.readings[node]
            ),
            taken=taken_by_jobs(self.readings[node]),
            memory_available_bytes=None if host is None else host.memory_available_bytes,
        )
        if sampled != self._posted.get(node):
            self._posted[node] = sampled
            self._engine.post(sampled)

    def _holders(self, name: NodeName, reading: GpuReading) -> tuple[JobId, ...]:
        """Whose processes are expected there: the jobs that have the GPU, or the one that it is a part of."""
        node = self._engine.state.node(name)
        return node.holders(GpuUuid(reading.uuid)) + node.mig_relative_holders(reading.as_gpu())

    def forget_posted(self) -> None:
        """The core's memory was read anew, so it has to be told again."""
        self._posted = {}
        self.refresh()

    def _jobs_with_gpus(self) -> list[Job]:
        state = self._engine.state
        return [state.jobs[JobId(job)] for node in state.nodes.values() for job in node.host if job in state.jobs]

    # What waits for time alone: an idle machine has nothing of the kind, and is left alone.

    def _outdated(self, now: float) -> int | None:
        """Before when minutes may be forgotten; said once a day, for it takes a look at all of them."""
        day = int(now) // DAY_S
        if day == self._day:
            return None
        self._day = day
        return (day - DAYS_KEPT) * DAY_S

    def tick_later(self) -> None:
        """Asked after readings and after commits: either may have brought something that waits for time."""
        if self._timer is None and self._has_something_due():
            self._timer = self._engine.call_later(TICK_S, self._tick)

    def _has_something_due(self) -> bool:
        nodes = self._engine.state.nodes.values()
        return any(node.host or any(drain.by is None for drain in node.drains.values()) for node in nodes)

    def _tick(self) -> None:
        self._timer = None
        now = self._engine.now()
        self.settle()
        for node, at in self._renewed.items():
            if node in self._posted and abs(now - at) <= FRESH_S:
                self._engine.post(self._posted[node])
        self._renewed = {}
        self._engine.post(TimePassed())
        if int(now) // MINUTE_S != self._minute:
            self._minute = int(now) // MINUTE_S
            self._engine.keep_samples(self.usage.minute(now), self.so_far(), self._outdated(now))
        self.tick_later()
