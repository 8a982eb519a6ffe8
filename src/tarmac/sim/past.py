"""What the scheduler knew before a simulation begins: how long runs took, and how much GPU time owners had used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.ledger import Ledger
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.status import Booking, Cancelled, Failed, Succeeded
from tarmac.records import dataclass
from tarmac.sim.trace import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tarmac.core.ledger import HourRow
    from tarmac.core.model.names import Failure
    from tarmac.core.state import State
    from tarmac.sim.trace import TraceJob

NEVER = 0  # an id that no job has


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run that is not simulated, on the clock of the trace."""

    job: TraceJob
    starts_at: float
    ends_at: float


class Past:
    """Runs of the past. Each is learned when it ended, which may be while the simulation is under way."""

    def __init__(self, runs: Iterable[PastRun]) -> None:
        self._runs = sorted(runs, key=lambda run: run.ends_at)
        self._learned = 0

    def load_hours(self, state: State, now: float) -> None:
        """The GPU time that owners had used by now, for fair shares."""
        state.load_hours([row for run in self._runs for row in _hours(run, now)], now)

    def learn_until(self, state: State, now: float) -> None:
        """Learn what had ended by now."""
        while self._learned < len(self._runs) and self._runs[self._learned].ends_at <= now:
            state.learn_run(_ended(self._runs[self._learned]))
            self._learned += 1


def _ended(run: PastRun) -> Job:
    return Job(
        id=JobId(NEVER),
        spec=spec_of(run.job, NEVER),
        submitted_at=run.job.submit_s,
        position=0.0,
        attempt=1,
        status=_status(run),
    )


def _status(run: PastRun) -> Succeeded | Failed | Cancelled:
    booking = _booking(run)
    if run.job.is_cut_short or run.job.ending == "failed":
        reason: Failure = "timeout" if run.job.is_cut_short else "exit"
        return Failed(booking=booking, pid=None, started_at=run.starts_at, ended_at=run.ends_at, reason=reason)
    kind = Succeeded if run.job.ending == "succeeded" else Cancelled
    return kind(booking=booking, pid=None, started_at=run.starts_at, ended_at=run.ends_at)


def _booking(run: PastRun) -> Booking:
    """Stand-ins for the GPUs it had: as many as it asked for."""
    request = run.job.request
    part = request.gpu_share or 1.0
    gpus = tuple(BookedGpu(uuid=GpuUuid(f"past-{index}"), index=index, part=part) for index in range(request.gpus))
    return Booking(node=NodeName("past"), gpus=gpus)


def _hours(run: PastRun, now: float) -> Iterator[HourRow]:
    until = min(run.ends_at, now)
    if run.starts_at >= until:
        return
    ledger, job, half_life_s = Ledger(), _ended(run), 1.0  # rows do not depend on the half-life
    ledger.begin(job, _booking(run), run.starts_at, run.starts_at, half_life_s)
    yield from ledger.end(job.id, until, half_life_s)
