"""GPU use over time: of GPUs by minute, and of attempts and foreign processes by day.

A reading is valid until the next one, because an idle GPU is not reported again and again.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import astuple, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.controller.accounts.counters import Counters, Holder
from tarmac.controller.accounts.days import by_day, day_of
from tarmac.controller.accounts.hours import HourBook
from tarmac.core.handlers.health import FRESH_S
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import holds_booking
from tarmac.records import dataclass
from tarmac.store.accounts import Account, Usage
from tarmac.store.batch import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tarmac.core.model.gpu import GpuUse
    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.state import State
    from tarmac.nodes.reports import GpuReading

RING = 3600
MINUTE_S = 60
CLOSED = ""  # instead of a day: those that are over and in the accounts
SETTING = "usage_so_far"  # stored with the settings, but not set by users


class GpuKey(NamedTuple):
    node: str
    uuid: str


class TimedReading(NamedTuple):
    at: float
    reading: GpuReading


class AttemptKey(NamedTuple):
    job: int
    attempt: int


class DayKey(NamedTuple):
    day: str
    gpu: str  # UUID


class ForeignKey(NamedTuple):
    day: str
    user: str
    node: str
    gpu: str


@dataclass(slots=True)
class Integral:
    """Sums over time."""

    seconds: float = 0.0  # by the part of the GPU
    used_s: float = 0.0  # weighted by utilization
    energy_j: float = 0.0
    measured_s: float = 0.0  # of these, with a known utilization
    has_power: bool = False
    peak_bytes: int | None = None

    def add(self, reading: GpuReading, seconds: float, part: float = 1.0) -> None:
        self.seconds += seconds * part
        if reading.utilization is not None:
            self.measured_s += seconds * part
            self.used_s += reading.utilization / 100 * seconds * part
        if reading.power_w is not None:
            self.has_power = True
            self.energy_j += reading.power_w * seconds * part

    def note_peak(self, size: int) -> None:
        self.peak_bytes = max(self.peak_bytes or 0, size)

    def merge(self, other: Integral) -> None:
        self.seconds += other.seconds
        self.used_s += other.used_s
        self.energy_j += other.energy_j
        self.measured_s += other.measured_s
        self.has_power = self.has_power or other.has_power
        if other.peak_bytes is not None:
            self.note_peak(other.peak_bytes)

    @property
    def average(self) -> float | None:
        return round(100 * self.used_s / self.measured_s, 1) if self.measured_s else None

    @property
    def energy(self) -> float | None:
        return round(self.energy_j, 1) if self.has_power else None


@dataclass(slots=True)
class AttemptBook:
    """What an attempt used so far, by day and GPU. Days that are over become one entry."""

    work: dict[DayKey, Integral] = field(default_factory=dict)

    def days_over(self, today: str) -> list[DayKey]:
        """The entries of days before today."""
        return [key for key in self.work if CLOSED < key.day < today]

    def of(self, day: str, gpu: str) -> Integral:
        return self.work.setdefault(DayKey(day, gpu), Integral())

    def total(self, job: int) -> Usage:
        parts = self.work.values()
        measured_s, used_s = sum(part.measured_s for part in parts), sum(part.used_s for part in parts)
        return Usage(
            job,
            max((part.peak_bytes for part in parts if part.peak_bytes is not None), default=None),
            round(100 * used_s / measured_s, 1) if measured_s else None,
            round(sum(part.energy_j for part in parts), 1) if any(part.has_power for part in parts) else None,
            measured_s=measured_s,
            used_s=used_s,
        )


class UsageBook:
    def __init__(self) -> None:
        self.rings: dict[GpuKey, deque[TimedReading]] = {}
        self.attempts: dict[AttemptKey, AttemptBook] = {}
        self.being_written: dict[int, Usage] = {}  # of jobs whose attempts are over, until that is on disk
        self.counters = Counters()
        self.hours = HourBook()
        self._settled_at: dict[str, float] = {}  # by node
        self._current: dict[str, dict[int, AttemptKey]] = {}  # jobs that held GPUs of a node at the last settling
        self._foreign_uses: dict[GpuKey, GpuUse] = {}  # GPUs with foreign processes
        self._foreign: dict[ForeignKey, Integral] = {}  # not stored yet
        self._minutes: dict[GpuKey, Integral] = {}
        self._last: dict[GpuKey, TimedReading] = {}
        self._keys: dict[str, list[GpuKey]] = {}  # of `_last`, by node
        self._read_at: dict[str, float] = {}

    def read(self, node: str, readings: Iterable[GpuReading], jobs: Iterable[Job], now: float) -> None:
        """Note new readings; the previous ones were valid until now. `jobs` has those of the node."""
        self.settle(jobs, now, node)
        self.confirm(node, now)
        day = day_of(now)
        for reading in readings:
            gpu = GpuKey(node, reading.uuid)
            if gpu not in self._last:
                self._keys.setdefault(node, []).append(gpu)
            self._last[gpu] = TimedReading(now, reading)
            self.rings.setdefault(gpu, deque(maxlen=RING)).append(self._last[gpu])
            for job in {process.job for process in reading.processes if process.job is not None}:
                self._note_peak(node, job, reading, day)

    def confirm(self, node: str, now: float) -> None:
        """The same values were read again."""
        self._read_at[node] = now

    def note_foreign(self, node: str, uses: Iterable[tuple[GpuUuid, GpuUse]]) -> None:
        """Which GPUs of the node foreign processes use from now on."""
        kept = {key: use for key, use in self._foreign_uses.items() if key.node != node}
        self._foreign_uses = kept | {GpuKey(node, uuid): use for uuid, use in uses if use.foreign_processes}

    def settle(self, jobs: Iterable[Job], now: float, node: str | None = None) -> None:
        """Count the time since the last reading, for GPUs and for the jobs and foreign processes on them.

        With `node`, only there, and `jobs` may be those of the node: the cost must not grow with the number of nodes.
        Time without readings (the agent is away, the machine slept) is not counted, because its use is unknown.
        """
        last = self._last if node is None else {key: self._last[key] for key in self._keys.get(node, ())}
        since = {key: (at, max(at, min(now, self._read_at[key.node] + FRESH_S))) for key, (at, _) in last.items()}
        booked, held = self._settle_jobs(jobs, since, now, node)
        self._settle_foreign(booked, since)
        split = {(key.node, reading.parent) for key, (_, reading) in last.items()}
        for key, (_, reading) in list(last.items()):
            self._minutes.setdefault(key, Integral()).add(reading, since[key][1] - since[key][0])
            if key not in split:  # the parts of a split GPU are counted instead
                self.hours.add(key.node, reading, since[key], held.get(key, 0.0))
            self._last[key] = TimedReading(now, reading)

    def _settle_jobs(
        self, jobs: Iterable[Job], since: Mapping[GpuKey, tuple[float, float]], now: float, node: str | None
    ) -> tuple[dict[GpuKey, float], dict[GpuKey, float]]:
        """Returns the part of each GPU that is booked, and the part that was since the last settling."""
        booked, held = dict[GpuKey, float](), dict[GpuKey, float]()
        settled, before = self._settled_at, self._current
        self._settled_at = settled | dict.fromkeys(settled if node is None else (node,), now)
        self._current = {} if node is None else {**before, node: {}}
        for job in jobs:
            booking, attempt = holds_booking(job.status), AttemptKey(job.id, job.attempt)
            if booking is None or not booking.gpus:
                continue
            holder = Holder("job", job.spec.owner, job.spec.project or "")
            book = self.attempts.setdefault(attempt, AttemptBook())
            for name, gpu in booking.gpus_by_node():
                key = GpuKey(name, gpu.uuid)
                if node not in {None, key.node}:
                    continue
                self._current.setdefault(key.node, {})[job.id] = attempt
                self._settled_at[key.node] = now
                booked[key] = booked.get(key, 0.0) + gpu.part
                if before.get(key.node, {}).get(job.id) != attempt:
                    continue  # it began after the last settling
                held[key] = held.get(key, 0.0) + gpu.part
                self.counters.add_held(holder, now - settled.get(key.node, now), gpu.part)
                if key in self._last:
                    reading = self._last[key].reading
                    self.counters.add_use(holder, reading, since[key][1] - since[key][0], gpu.part)
                    for day, seconds in by_day(*since[key]):
                        book.of(day, gpu.uuid).add(reading, seconds, gpu.part)
        return booked, held

    def _settle_foreign(self, booked: Mapping[GpuKey, float], since: Mapping[GpuKey, tuple[float, float]]) -> None:
        """Foreign processes are charged for the part of a GPU that no job holds, so nothing is counted twice."""
        for key, use in self._foreign_uses.items():
            part = 1.0 - booked.get(key, 0.0)
            if part <= 0 or key not in since:
                continue
            users = sorted({process.user or "" for process in use.foreign_processes})
            reading, (begin, end), part = self._last[key].reading, since[key], part / len(users)
            for user in users:
                self.counters.add_held(Holder("foreign", user, ""), end - begin, part)
                self.counters.add_use(Holder("foreign", user, ""), reading, end - begin, part)
                for day, seconds in by_day(begin, end):
                    work = self._foreign.setdefault(ForeignKey(day, user, *key), Integral())
                    work.add(reading, seconds, part)
                    work.note_peak(use.outside_bytes)

    def minute(self, now: float) -> list[Sample]:
        """One row for each GPU that was used since the last call."""
        rows = []
        for key, work in self._minutes.items():
            reading = self._last[key].reading
            if work.seconds and (work.average or reading.processes):
                rows.append(
                    Sample(
                        at=int(now) // MINUTE_S * MINUTE_S,
                        node=key.node,
                        uuid=key.uuid,
                        memory_used_bytes=reading.memory_used_bytes,
                        utilization=work.average,
                        power_w=work.energy_j / work.seconds if work.has_power else None,
                    )
                )
        self._minutes = {}
        return rows

    def foreign(self) -> list[Account]:
        """What foreign processes used that is not stored yet."""
        return [
            Account(
                day=key.day, kind="foreign", owner=key.user, node=key.node, gpu=key.gpu,
                held_s=work.seconds, measured_s=work.measured_s, used_s=work.used_s, energy_j=work.energy,
                peak_bytes=work.peak_bytes,
            )
            for key, work in self._foreign.items()
        ]  # fmt: skip

    def take_foreign(self) -> tuple[list[Account], Callable[[], None]]:
        """As `foreign`, for a caller that stores it. The function takes that back."""
        rows, (taken, self._foreign) = self.foreign(), (self._foreign, {})

        def undo() -> None:
            for key, work in taken.items():
                self._foreign.setdefault(key, Integral()).merge(work)

        return rows, undo

    def close_days(self, today: str) -> Callable[[], None]:
        """Merge the days before today into one entry: they are in the accounts. The function takes that back."""
        before = {attempt: dict(book.work) for attempt, book in self.attempts.items() if book.days_over(today)}
        for attempt in before:
            book = self.attempts[attempt]
            for key in book.days_over(today):
                merged = Integral()
                for one in (DayKey(CLOSED, key.gpu), key):
                    merged.merge(book.work.pop(one, Integral()))
                book.work[DayKey(CLOSED, key.gpu)] = merged

        def undo() -> None:
            for attempt, work in before.items():
                if (book := self.attempts.get(attempt)) is not None:
                    book.work = {key: one for key, one in book.work.items() if key.day != CLOSED} | work

        return undo

    def book(self, job: int, attempt: int) -> AttemptBook:
        """What an attempt used so far."""
        return self.attempts.get(AttemptKey(job, attempt)) or AttemptBook()

    def forget(self, job: int, attempt: int) -> None:
        self.attempts.pop(AttemptKey(job, attempt), None)
        self.being_written.pop(job, None)

    def text(self) -> str | None:
        """What running attempts used so far, for the next controller to continue from. None if nothing."""
        books = [
            [*attempt, *key, *astuple(work)]
            for attempt, book in self.attempts.items()
            for key, work in book.work.items()
        ]
        return json.dumps(books) if books else None

    def restore(self, stored: str | None, live: Mapping[JobId, Job]) -> None:
        """Take over what an earlier controller stored for live attempts; the use of those that are over is final."""
        books = json.loads(stored or "[]")
        for number, attempt, day, gpu, *work in _converted(books, live) if isinstance(books, dict) else books:
            job = live.get(JobId(number))
            booking = holds_booking(job.status) if job is not None and job.attempt == attempt else None
            if booking is not None:
                node = next((name for name, one in booking.gpus_by_node() if one.uuid == gpu), booking.node)
                key = self._current.setdefault(node, {})[number] = AttemptKey(number, attempt)
                self.attempts.setdefault(key, AttemptBook()).work[DayKey(day, gpu)] = Integral(*work)

    def _note_peak(self, node: str, job: int, reading: GpuReading, day: str) -> None:
        attempt, taken = self._current.get(node, {}).get(job), _memory_of(job, reading)
        if attempt is not None and taken is not None:
            self.attempts[attempt].of(day, reading.uuid).note_peak(taken)


def _memory_of(job: int, reading: GpuReading) -> int | None:
    """What the job takes of the GPU; all that is in use, if its processes do not say and no others are there."""
    known = [one.memory_bytes for one in reading.processes if one.job == job and one.memory_bytes is not None]
    if known:
        return sum(known)
    return reading.memory_used_bytes if all(one.job == job for one in reading.processes) else None


def _converted(books: Mapping[str, list[Any]], live: Mapping[JobId, Job]) -> Iterator[list[Any]]:
    """What an older version stored, which counted by job only: as if all of it were of the first day and GPU."""
    for number, (peak, seconds, utilization_s, energy_j, known_s, has_power) in books.items():
        job = live.get(JobId(int(number)))
        booking = None if job is None else holds_booking(job.status)
        if job is not None and booking is not None and booking.gpus:
            gpus = len(booking.gpus)
            day = day_of(getattr(job.status, "started_at", None) or job.submitted_at)
            work = (seconds * gpus, utilization_s / 100 * gpus, energy_j, known_s * gpus, has_power, peak)
            yield [job.id, job.attempt, day, booking.gpus[0].uuid, *work]


def jobs_with_gpus(state: State, node: NodeName | None = None) -> list[Job]:
    """Jobs that hold a booking on this node, or on any."""
    if node is None:
        return state.booked_jobs()
    return [state.jobs[job] for job in state.nodes[node].host if job in state.jobs] if node in state.nodes else []
