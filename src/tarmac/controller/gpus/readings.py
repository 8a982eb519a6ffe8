"""The latest reading of every GPU. Turns readings into events of the core and feeds the usage book."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tarmac.controller.accounts.days import day_of
from tarmac.controller.accounts.rollup import accounts_of_past_days
from tarmac.controller.engine.decision import Decision
from tarmac.controller.gpus import usage as usage_book
from tarmac.controller.gpus.foreign_processes import memory_of_jobs, use_of
from tarmac.controller.gpus.usage import MINUTE_S, jobs_with_gpus
from tarmac.controller.publisher import GpusChanged
from tarmac.core.events import NodeSampled, TimePassed
from tarmac.core.handlers.health import FRESH_S
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.status import RunName

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.gpus.ignored import IgnoredProcesses
    from tarmac.controller.gpus.usage import UsageBook
    from tarmac.controller.job_memory import JobMemory
    from tarmac.controller.publisher import Publisher
    from tarmac.core.model.ids import NodeName
    from tarmac.core.state import State
    from tarmac.nodes.reports import GpuReading, HostReading

TICK_S = 5.0
DAY_S = 86400
DAYS_STORED = 90  # of samples, one a minute


class GpuReadings:
    def __init__(
        self,
        engine: Engine,
        usage: UsageBook,
        publisher: Publisher,
        ignored: IgnoredProcesses,
        memory: JobMemory,
    ) -> None:
        self.latest: dict[NodeName, list[GpuReading]] = {}
        self.errors: dict[NodeName, str | None] = {}
        self._engine = engine
        self._usage = usage
        self._publisher = publisher
        self._ignored = ignored
        self._memory = memory
        self.hosts: dict[NodeName, HostReading | None] = {}
        self._posted: dict[NodeName, NodeSampled] = {}
        self._renewed_at: dict[NodeName, float] = {}  # when the same values were read again
        self._timer: asyncio.TimerHandle | None = None
        self._minute = 0
        self._foreign_minute = 0
        self._day = 0
        engine.after_commit.append(self.tick_later)
        engine.after_recovery.append(self.post_again)

    def of(self, node: NodeName) -> list[GpuReading]:
        return self.latest.get(node, [])

    def take(self, node: NodeName, readings: list[GpuReading], host: HostReading | None, error: str | None) -> None:
        self._rename(node, readings)
        self.latest[node] = readings
        self.errors[node] = error
        self.hosts[node] = host
        self._usage.read(node, readings, jobs_with_gpus(self._engine.state, node), self._engine.now())
        self._sample(node)
        self.renew(node)
        self._publisher.publish([GpusChanged(node)])
        self.tick_later()

    def forget(self, node: NodeName) -> None:
        """The node was removed."""
        self.latest.pop(node, None)
        self.errors.pop(node, None)
        self.hosts.pop(node, None)
        self._posted.pop(node, None)
        self._renewed_at.pop(node, None)
        self._publisher.publish([GpusChanged(node)])

    def _rename(self, node: NodeName, readings: list[GpuReading]) -> None:
        """Processes of attempts that were taken in under another id belong to the job with that id."""
        renamed = self._engine.state.renamed
        for process in (process for reading in readings if renamed for process in reading.processes):
            if process.job is not None and process.attempt is not None:
                run = RunName(JobId(process.job), process.attempt)
                process.job = renamed.get((node, run), process.job)

    def renew(self, node: NodeName) -> None:
        """The same values were read again. The core learns this with the next tick."""
        now = self._renewed_at[node] = self._engine.now()
        self._usage.confirm(node, now)
        self._store_foreign(now)

    def refresh(self) -> None:
        """Judge the latest readings again: what counts as foreign use has changed."""
        for node in self.latest:
            self._sample(node)

    def post_again(self) -> None:
        """Post everything again: the core's memory was reloaded."""
        self._posted = {}
        self.refresh()

    def _sample(self, node: NodeName) -> None:
        host = self.hosts.get(node)
        settings, ignored = self._engine.settings, self._ignored.starts_on(node)
        sampled = NodeSampled(
            node=node,
            uses=tuple(
                (GpuUuid(reading.uuid), use_of(reading, settings, ignored, self._holders(node, reading)))
                for reading in self.latest[node]
            ),
            taken=memory_of_jobs(self.latest[node]),
            memory_available_bytes=None if host is None else host.memory_available_bytes,
        )
        self._usage.note_foreign(node, sampled.uses)
        if sampled != self._posted.get(node):
            self._posted[node] = sampled
            self._engine.post(sampled)

    def _holders(self, name: NodeName, reading: GpuReading) -> tuple[JobId, ...]:
        """Jobs whose processes are expected there: those that hold the GPU, its parent or its parts."""
        node = self._engine.state.node(name)
        return node.holders(GpuUuid(reading.uuid)) + node.mig_relative_holders(reading.as_gpu())

    # The tick: runs only while something waits for time, so that an idle machine stays asleep

    def tick_later(self) -> None:
        """Called after readings and after commits: either may bring something that waits for time."""
        if self._timer is None and self._has_something_due():
            self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)

    def _has_something_due(self) -> bool:
        nodes = self._engine.state.nodes.values()
        return any(node.host or any(drain.by is None for drain in node.drains.values()) for node in nodes)

    def _tick(self) -> None:
        self._timer = None
        now = self._engine.now()
        self._usage.settle(jobs_with_gpus(self._engine.state), now)
        for node, at in self._renewed_at.items():
            if node in self._posted and abs(now - at) <= FRESH_S:
                self._engine.post(self._posted[node])
        self._renewed_at = {}
        self._engine.post(TimePassed())
        self._memory.look()
        if int(now) // MINUTE_S != self._minute:
            self._minute = int(now) // MINUTE_S
            self._store_minute(now)
        self.tick_later()

    def _store_minute(self, now: float) -> None:
        samples, outdated, today = self._usage.minute(now), self._outdated(now), day_of(now)
        memory = self._memory.minute(now)

        def plan(state: State) -> Decision[None]:
            rows = accounts_of_past_days(state, self._usage, today)
            undo_days = self._usage.close_days(today)
            hours, undo_hours = self._usage.hours.take()
            return Decision(
                answer=None,
                samples=samples,
                memory_samples=memory,
                samples_from=outdated,
                hours=hours,
                accounts=rows,
                settings={usage_book.SETTING: self._usage.text()},
                install=lambda: undo_both(undo_days, undo_hours),
            )

        self._engine.put_plan(plan)

    def _store_foreign(self, now: float) -> None:
        """Once a minute, also while no job runs and nothing ticks."""
        minute = int(now) // MINUTE_S
        if minute != self._foreign_minute and self._engine.degraded is None:
            self._foreign_minute = minute
            self._usage.settle(jobs_with_gpus(self._engine.state), now)
            if self._usage.foreign() or self._usage.hours.has_past(now):
                self._engine.put_plan(lambda _: unstored(self._usage))

    def _outdated(self, now: float) -> int | None:
        """The time before which samples are deleted; once a day, because it scans all of them."""
        day = int(now) // DAY_S
        if day == self._day:
            return None
        self._day = day
        return (day - DAYS_STORED) * DAY_S


def unstored(usage: UsageBook) -> Decision[None]:
    """Store what foreign processes used, and the hours of nodes."""
    accounts, undo_accounts = usage.take_foreign()
    hours, undo_hours = usage.hours.take()
    return Decision(answer=None, accounts=accounts, hours=hours, install=lambda: undo_both(undo_accounts, undo_hours))


def undo_both(one: Callable[[], None], other: Callable[[], None]) -> Callable[[], None]:
    def undo() -> None:
        one()
        other()

    return undo
