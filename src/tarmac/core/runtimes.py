"""How long jobs run: what is known, for displays, and what is expected, for plans.

Known is a time limit, or how long earlier attempts with that name or command took. An expectation always exists: where
nothing is known, it comes from the owner's last runs of that width. It is doubled whenever a job outlives it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from tarmac.core.model.plan import RestsOn
from tarmac.core.model.status import Failed, Paused, Running, Starting, Stopping, Succeeded, Unknown
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job, JobSpec

LAST_ATTEMPTS = 5
LAST_RUNS = 20  # of an owner's jobs of one width
LEAST_RUNS = 5  # fewer do not tell how long a job takes at most
LAST_OF_ALL = 200
MOST_KINDS = 20_000
UNKNOWN_S = 3600.0  # expected where nothing is known
CAUTION = 2  # times what is expected, where too short an expectation would do harm
LEAST_S = 10.0  # no expectation is shorter: doubling it would get nowhere
Kind: TypeAlias = tuple[str, "str | tuple[str, ...] | None"]  # owner, and the name or command
Width: TypeAlias = tuple[str, int]  # owner and GPUs
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """When a job is expected to be over. `rests_on`: limit (at the latest then), history, or stop."""

    at: float
    rests_on: RestsOn


class Expectation(NamedTuple):
    seconds: float
    rests_on: RestsOn


class Range(NamedTuple):
    usual_s: float
    longest_s: float | None  # None: too little is known


class Run(NamedTuple):
    seconds: float
    has_limit: bool


@dataclass(slots=True)
class LastRuns:
    """The last runs of jobs with GPUs, of all owners."""

    runs: deque[Run] = field(default_factory=lambda: deque(maxlen=LAST_OF_ALL))
    longest_s: float = 0.0
    _limits: int = 0  # how many had a time limit

    def add(self, run: Run) -> None:
        forgotten = self.runs[0] if len(self.runs) == LAST_OF_ALL else Run(0.0, has_limit=False)
        self.runs.append(run)
        self._limits += run.has_limit - forgotten.has_limit
        is_longest_gone = forgotten.seconds >= self.longest_s > run.seconds
        self.longest_s = max(one.seconds for one in self.runs) if is_longest_gone else max(self.longest_s, run.seconds)

    @property
    def have_limits(self) -> bool:
        """Most of them do."""
        return 2 * self._limits > len(self.runs)


@dataclass(slots=True)
class Runtimes:
    recent_s: dict[Kind, deque[float]] = field(default_factory=dict)
    recent_s_of_width: dict[Width, deque[float]] = field(default_factory=dict)
    ranges: dict[Width, Range] = field(default_factory=dict)  # of jobs without namesakes, until a run is added
    learned: dict[str, int] = field(default_factory=dict)  # how often, by owner: what rests on it is out of date then
    last_runs: LastRuns = field(default_factory=LastRuns)
    expected: dict[JobId, Expectation] = field(default_factory=dict)  # of attempts, as of when they got their GPUs
    # When attempts began, on the clock as it is set now: the time that elapsed since is right even if the clock was set
    # in between. Their `started_at` is what the clock showed then.
    began: dict[JobId, float] = field(default_factory=dict)
    # When running jobs end by the progress that they print, on the clock as it is set now. A moment that has passed was
    # wrong. Jobs print what they like, so no promise may rest on it.
    ends_by_progress: dict[JobId, float] = field(default_factory=dict)

    def learn(self, job: Job) -> None:
        """Learn from attempts that ended by themselves or at their limit. Only successes teach their namesakes."""
        status = job.status
        if not isinstance(status, Succeeded | Failed) or status.started_at is None:
            return
        seconds = max(0.0, status.ended_at - status.started_at - status.paused_s)
        self.learned[job.spec.owner] = self.learned.get(job.spec.owner, 0) + 1
        self._remember_width(_width(job.spec), seconds)
        if job.spec.request.gpus:
            self.last_runs.add(Run(seconds, has_limit=job.spec.time_limit_s is not None))
        if isinstance(status, Succeeded):
            _remember(self.recent_s, _kind(job.spec), seconds, LAST_ATTEMPTS)

    def learn_all(self, newest_first: Iterable[Job]) -> None:
        """Learn stored jobs in the order in which they ended, as they were learned the first time."""
        ended = ((job.status, job) for job in newest_first)
        known = [(status.ended_at, job.id, job) for status, job in ended if isinstance(status, Succeeded | Failed)]
        for _, _, job in sorted(known, key=lambda one: one[:2]):
            self.learn(job)

    # What is known

    def expected_s(self, spec: JobSpec) -> float | None:
        """None: not known."""
        if spec.time_limit_s is not None:
            return spec.time_limit_s
        runs = self.recent_s.get(_kind(spec))
        return None if runs is None else max(runs)

    def elapsed_s(self, job: Job, now: float) -> float | None:
        """How long an attempt has been running, without pauses; None if it has not started, or has ended."""
        status = job.status
        if not isinstance(status, Running | Stopping | Unknown) or status.started_at is None:
            return None
        paused_s = status.paused_until(now) if isinstance(status, Running) else status.paused_s
        return max(0.0, now - self.began.get(job.id, status.started_at) - paused_s)

    def end_if_started(self, spec: JobSpec, now: float) -> float | None:
        expected = self.expected_s(spec)
        return None if expected is None else now + expected

    def end_of(self, job: Job, now: float) -> End | None:
        """When a job with GPUs ends; None if unknown, as for a paused job or one that runs longer than ever before."""
        if (end := self._certain_end(job)) is not None:
            return end
        began, expected = self._began(job, now), self.expected_s(job.spec)
        if isinstance(job.status, Paused) or began is None or expected is None or began + expected < now:
            return None
        return End(at=began + expected, rests_on="history")

    # What is expected

    def expectation(self, spec: JobSpec) -> Expectation:
        """How long a job would run that starts now."""
        if spec.time_limit_s is not None:
            return Expectation(spec.time_limit_s, "limit")
        if (runs := self.recent_s.get(_kind(spec))) is not None:
            return Expectation(max(LEAST_S, *runs), "history")
        if (runs := self.recent_s_of_width.get(_width(spec))) is not None:
            return Expectation(_usual_s(runs), "owner")
        return Expectation(UNKNOWN_S, "guess")

    def planning_s(self, spec: JobSpec) -> float:
        return self.expectation(spec).seconds

    def longest_s(self, spec: JobSpec) -> float | None:
        """The time limit, else the longest recent run; None if too little is known."""
        if (known := self.expected_s(spec)) is not None:
            return known
        return _longest_s(self.recent_s_of_width.get(_width(spec), ()))

    def usual_and_longest_s(self, spec: JobSpec) -> Range:
        """`planning_s` and `longest_s` of a job without a time limit. A pass asks about many jobs of one width."""
        if (runs := self.recent_s.get(_kind(spec))) is not None:
            longest_s = max(runs)
            return Range(max(LEAST_S, longest_s), longest_s)
        width = _width(spec)
        known = self.ranges.get(width)
        if known is None:
            known = self.ranges[width] = self.range_of(width)
        return known

    def range_of(self, width: Width) -> Range:
        runs = self.recent_s_of_width.get(width)
        return Range(UNKNOWN_S, None) if runs is None else Range(_usual_s(runs), _longest_s(runs))

    def expect(self, job: Job) -> None:
        """Note how long an attempt is expected to run, as it gets its GPUs.

        Twice what its owner's last runs suggest: a plan that is too early leaves GPUs idle for a job that cannot start.
        """
        seconds, rests_on = self.expectation(job.spec)
        self.expected[job.id] = Expectation(CAUTION * seconds if rests_on == "owner" else seconds, rests_on)

    def expected_end_of(self, job: Job, now: float) -> End | None:
        """When a job with GPUs will probably end; None if it is paused or in an unknown state."""
        if (end := self._certain_end(job)) is not None:
            return end
        if isinstance(job.status, Paused):
            return None
        began = self._began(job, now)
        if began is None:
            return None
        by_progress = self.ends_by_progress.get(job.id)
        if by_progress is not None and by_progress > now:
            return End(at=by_progress, rests_on="progress")
        seconds, rests_on = self.expected[job.id]
        while began + seconds <= now:
            seconds, rests_on = 2 * seconds, "guess" if rests_on == "guess" else "outlived"
        return End(at=began + seconds, rests_on=rests_on)

    def _remember_width(self, width: Width, seconds: float) -> None:
        _remember(self.recent_s_of_width, width, seconds, LAST_RUNS)
        self.ranges.pop(width, None)
        if max(len(self.ranges), len(self.recent_s_of_width)) >= MOST_KINDS:  # the runs of a width may be forgotten
            self.ranges.clear()

    def forget_attempt(self, job: JobId) -> None:
        self.began.pop(job, None)
        self.expected.pop(job, None)

    def _certain_end(self, job: Job) -> End | None:
        """The latest end of a job that has a time limit or was asked to stop."""
        status, limit_s = job.status, job.spec.time_limit_s
        if isinstance(status, Stopping):
            return End(at=status.asked_at + status.grace_s, rests_on="stop")
        if limit_s is None:
            return None
        match status:
            case Starting():
                return End(at=status.decided_at + limit_s, rests_on="limit")
            case Paused(is_counted=False):
                return None
            case Running():
                began = self.began.get(job.id, status.started_at)
                return End(at=began + status.extension_s + limit_s, rests_on="limit")
            case _:
                return None

    def _began(self, job: Job, now: float) -> float | None:
        """When it would have begun if it had never been paused."""
        match job.status:
            case Starting(decided_at=decided_at):
                return decided_at
            case Running() as status:
                return self.began.get(job.id, status.started_at) + status.paused_until(now)
            case _:
                return None


def _kind(spec: JobSpec) -> Kind:
    return (spec.owner, spec.name or spec.command or spec.shell)


def _width(spec: JobSpec) -> Width:
    return (spec.owner, spec.request.total_gpus)


def _usual_s(runs: Sequence[float]) -> float:
    return max(LEAST_S, (runs[-1] + runs[-2]) / 2 if len(runs) > 1 else runs[-1])


def _longest_s(runs: Sequence[float]) -> float | None:
    return None if len(runs) < LEAST_RUNS else max(LEAST_S, *runs)


def _remember(recent_s: dict[_Key, deque[float]], key: _Key, seconds: float, most: int) -> None:
    runs = recent_s.pop(key, None) or deque(maxlen=most)
    runs.append(seconds)
    recent_s[key] = runs  # newest last, so that the oldest is forgotten first
    if len(recent_s) > MOST_KINDS:
        del recent_s[next(iter(recent_s))]
