"""How long jobs are expected to run: their time limit, else the longest of the last attempts of the same kind."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model.plan import RestsOn
from tarmac.core.model.status import Running, Starting, Stopping, Succeeded, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job, JobSpec

LAST_ATTEMPTS = 5
MOST_KINDS = 20_000
Kind: TypeAlias = tuple[str, "str | tuple[str, ...] | None"]  # owner, and the name or command


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """When a job is expected to be over. `rests_on`: limit (at the latest then), history, or stop."""

    at: float
    rests_on: RestsOn


@dataclass(slots=True)
class Runtimes:
    recent_s: dict[Kind, deque[float]] = field(default_factory=dict)
    # When attempts began, on the clock as it is set now: the time that elapsed since is right even if the clock was set
    # in between. Their `started_at` is what the clock showed then.
    began: dict[JobId, float] = field(default_factory=dict)
    # When running jobs end by the progress that they print, on the clock as it is set now. A moment that has passed was
    # wrong. Jobs print what they like, so no promise may rest on it.
    ends_by_progress: dict[JobId, float] = field(default_factory=dict)

    def learn(self, job: Job) -> None:
        """Learn from attempts that succeeded."""
        status = job.status
        if not isinstance(status, Succeeded):
            return
        kind = _kind(job.spec)
        runs = self.recent_s.pop(kind, None) or deque(maxlen=LAST_ATTEMPTS)
        runs.append(max(0.0, status.ended_at - status.started_at))
        self.recent_s[kind] = runs  # newest last, so that the oldest is forgotten first
        if len(self.recent_s) > MOST_KINDS:
            del self.recent_s[next(iter(self.recent_s))]

    def learn_all(self, newest_first: Iterable[Job]) -> None:
        for job in reversed(list(newest_first)):
            self.learn(job)

    def expected_s(self, spec: JobSpec) -> float | None:
        """None: not known."""
        if spec.time_limit_s is not None:
            return spec.time_limit_s
        runs = self.recent_s.get(_kind(spec))
        return None if runs is None else max(runs)

    def elapsed_s(self, job: Job, now: float) -> float | None:
        """How long an attempt has been running; None if it has not started, or has ended."""
        status = job.status
        if not isinstance(status, Running | Stopping | Unknown) or status.started_at is None:
            return None
        return max(0.0, now - self.began.get(job.id, status.started_at))

    def end_if_started(self, spec: JobSpec, now: float) -> float | None:
        expected = self.expected_s(spec)
        return None if expected is None else now + expected

    def end_of(self, job: Job, now: float) -> End | None:
        """When a job with GPUs ends; None if unknown, as for a job that runs longer than ever before."""
        status = job.status
        match status:
            case Stopping():
                return End(at=status.asked_at + status.grace_s, rests_on="stop")
            case Starting():
                began = status.decided_at
            case Running():
                began = self.began.get(job.id, status.started_at)
            case _:
                return None
        if job.spec.time_limit_s is not None:
            return End(at=began + job.spec.time_limit_s, rests_on="limit")
        expected = self.expected_s(job.spec)
        if expected is None or began + expected < now:
            return None
        return End(at=began + expected, rests_on="history")


def _kind(spec: JobSpec) -> Kind:
    return (spec.owner, spec.name or spec.command or spec.shell)
