"""GPUs per owner and project: in use now, within the last week, and weighted by age for fairshare.

A shared GPU counts by the part of it that is booked. GPU time is stored per hour of the clock, so that it can be added
up again after a restart or under another half-life.
"""

from __future__ import annotations

from dataclasses import field, replace
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Booking

HOUR_S = 3600
WEEK_S = 7 * 24 * HOUR_S
KEPT_S = 10 * WEEK_S

Hours: TypeAlias = dict[int, float]  # hour of the clock -> GPU-seconds


class HourRow(NamedTuple):
    hour: int  # since the epoch
    owner: str
    project: str  # empty: none
    gpu_s: float


@dataclass(frozen=True, slots=True)
class Use:
    owner: str
    project: str | None
    gpus: float
    since: float


@dataclass(slots=True)
class Faded:
    """GPU-seconds of one owner as they count at `at`, while `gpus` go on."""

    gpu_s: float = 0.0
    at: float = 0.0
    gpus: float = 0.0


@dataclass(slots=True)
class Ledger:
    running: dict[JobId, Use] = field(default_factory=dict)
    jobs_of_owner: dict[str, set[JobId]] = field(default_factory=dict)  # that hold GPUs
    jobs_of_project: dict[str, set[JobId]] = field(default_factory=dict)
    gpus_of_owner: dict[str, float] = field(default_factory=dict)
    gpus_of_project: dict[str, float] = field(default_factory=dict)
    hours_of_owner: dict[str, Hours] = field(default_factory=dict)
    hours_of_project: dict[str, Hours] = field(default_factory=dict)
    faded: dict[str, Faded] = field(default_factory=dict)

    def begin(self, job: Job, booking: Booking, since: float, now: float, half_life_s: float) -> None:
        gpus = sum(gpu.part for gpu in booking.all_gpus)
        use = self.running[job.id] = Use(job.spec.owner, job.spec.project, gpus, since)
        self._count(use, gpus)
        self.jobs_of_owner.setdefault(use.owner, set()).add(job.id)
        if use.project is not None:
            self.jobs_of_project.setdefault(use.project, set()).add(job.id)
        faded = self._settled(use.owner, now, half_life_s)
        faded.gpu_s += gpus * _faded_span(since, now, now, half_life_s)
        faded.gpus += gpus

    def end(self, job: JobId, now: float, half_life_s: float) -> list[HourRow]:
        """The GPU time of the job, by hours; the caller stores it."""
        use = self.running.pop(job)
        self._count(use, -use.gpus)
        _discard(self.jobs_of_owner, use.owner, job)
        if use.project is not None:
            _discard(self.jobs_of_project, use.project, job)
        self._settled(use.owner, now, half_life_s).gpus -= use.gpus
        rows = [
            HourRow(hour, use.owner, use.project or "", seconds * use.gpus)
            for hour, seconds in _by_hours(use.since, now)
            if use.gpus
        ]
        self.add(rows)
        return rows

    def add(self, rows: Iterable[HourRow]) -> None:
        for hour, owner, project, gpu_s in rows:
            _add(self.hours_of_owner, owner, hour, gpu_s)
            if project:
                _add(self.hours_of_project, project, hour, gpu_s)

    def week_hours_of_owner(self, owner: str, now: float) -> float:
        """GPU-hours of the last seven days, including running jobs."""
        return self._week_hours(self.hours_of_owner.get(owner, {}), self.jobs_of_owner.get(owner, set()), now)

    def week_hours_of_project(self, project: str, now: float) -> float:
        return self._week_hours(self.hours_of_project.get(project, {}), self.jobs_of_project.get(project, set()), now)

    def _week_hours(self, kept: Hours, running: set[JobId], now: float) -> float:
        since = now - WEEK_S
        past = sum(gpu_s for hour, gpu_s in kept.items() if (hour + 1) * HOUR_S > since)
        uses = (self.running[job] for job in running)
        present = sum(use.gpus * max(0.0, now - max(use.since, since)) for use in uses)
        return (past + present) / HOUR_S

    def shift(self, by_s: float) -> None:
        """The clock was set: count running jobs by the time that really passed."""
        for job, use in self.running.items():
            self.running[job] = replace(use, since=use.since + by_s)
        for faded in self.faded.values():
            faded.at += by_s

    def correct(self, job: JobId, recorded: float, began: float, now: float, half_life_s: float) -> None:
        """A job that was loaded from its record began at another moment of today's clock."""
        use = self.running[job]
        if use.since == recorded:
            self.running[job] = replace(use, since=began)
            self.fade_anew(now, half_life_s)

    def faded_gpu_s(self, owner: str, now: float, half_life_s: float) -> float:
        return self._settled(owner, now, half_life_s).gpu_s if owner in self.faded else 0.0

    def fade_anew(self, now: float, half_life_s: float) -> None:
        """Recompute from hours and running jobs, after a restart or a change of the half-life."""
        self.faded = {}
        for owner, hours in self.hours_of_owner.items():
            for hour in [hour for hour in hours if hour * HOUR_S < now - KEPT_S]:
                del hours[hour]
            faded = self.faded[owner] = Faded(at=now)
            for hour, gpu_s in hours.items():
                age_s = max(0.0, now - (hour + 0.5) * HOUR_S)
                faded.gpu_s += gpu_s * 0.5 ** (age_s / half_life_s)
        for use in self.running.values():
            faded = self._settled(use.owner, now, half_life_s)
            faded.gpu_s += use.gpus * _faded_span(use.since, now, now, half_life_s)
            faded.gpus += use.gpus

    def _settled(self, owner: str, now: float, half_life_s: float) -> Faded:
        """Brought forward to now: what was fades, what runs adds up and fades while it does."""
        faded = self.faded.get(owner)
        if faded is None:
            faded = self.faded[owner] = Faded(at=now)
        elif now > faded.at:
            faded.gpu_s *= 0.5 ** ((now - faded.at) / half_life_s)
            faded.gpu_s += faded.gpus * _faded_span(faded.at, now, now, half_life_s)
            faded.at = now
        return faded

    def _count(self, use: Use, gpus: float) -> None:
        _add_to(self.gpus_of_owner, use.owner, gpus)
        if use.project is not None:
            _add_to(self.gpus_of_project, use.project, gpus)


def _faded_span(start: float, end: float, now: float, half_life_s: float) -> float:
    """Seconds of one GPU from start to end, each weighed by how long ago it is."""
    rate = log(2) / half_life_s
    return max(0.0, exp(-rate * (now - end)) - exp(-rate * (now - min(start, end)))) / rate


def _by_hours(start: float, end: float) -> list[tuple[int, float]]:
    found = []
    start = max(start, end - KEPT_S)  # a clock that jumped by years writes no row for each hour of them
    while start < end:
        hour = int(start // HOUR_S)
        until = min(end, (hour + 1) * HOUR_S)
        found.append((hour, until - start))
        start = until
    return found


def _add(books: dict[str, Hours], name: str, hour: int, gpu_s: float) -> None:
    hours = books.setdefault(name, {})
    hours[hour] = hours.get(hour, 0.0) + gpu_s


def _discard(books: dict[str, set[JobId]], name: str, job: JobId) -> None:
    books[name].discard(job)
    if not books[name]:
        del books[name]


def _add_to(counts: dict[str, float], name: str, gpus: float) -> None:
    count = counts.get(name, 0.0) + gpus
    if abs(count) < 1e-9:
        counts.pop(name, None)
    else:
        counts[name] = count
