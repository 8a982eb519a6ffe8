"""Simulates nodes and users: feeds a trace to the core, carries out its commands, and records the outcome.

A start takes no time. An attempt ends after its duration, at its limit, or, if it was asked to stop, after its grace
period. At any one time, ends come before submits, and all submits come together.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.commands import SignalJob, StartJob
from tarmac.core.events import JobExited, JobsSubmitted, JobStarted, Reported, RulesSet, TimePassed
from tarmac.core.forecast.wakeups import next_due
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import TERM
from tarmac.core.policy.feasibility import lack
from tarmac.core.state import State
from tarmac.records import dataclass
from tarmac.sim.machines import joinings
from tarmac.sim.outcome import Attempt, Outcome
from tarmac.sim.past import Past
from tarmac.sim.trace import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.core.events import Event
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import JobSpec, Request
    from tarmac.core.model.rules import Rules
    from tarmac.sim.machines import Machine
    from tarmac.sim.past import PastRun
    from tarmac.sim.trace import TraceJob

PID = 1


@dataclass(slots=True, kw_only=True, eq=False)
class Run:
    """One running attempt."""

    number: int  # the job's number in the trace
    job: JobId
    attempt: int
    nodes: tuple[NodeName, ...]
    gpus: float  # on all nodes
    started_at: float
    ends_at: float
    is_cut_short: bool  # stopped at its limit
    is_preempted: bool = False


def simulate(
    trace: Sequence[TraceJob], machines: Sequence[Machine], rules: Rules, past: Sequence[PastRun] = ()
) -> Outcome:
    """The outcome of these jobs on these machines under these rules. The scheduler remembers the past runs."""
    return _World(trace, machines, rules, past).play()


class _World:
    def __init__(
        self, trace: Sequence[TraceJob], machines: Sequence[Machine], rules: Rules, past: Sequence[PastRun]
    ) -> None:
        self.trace = trace
        self.state = State()
        self.past = Past(past)
        self.numbers: dict[JobId, int] = {}
        self.runs: dict[JobId, Run] = {}
        self.ends: list[tuple[float, int, Run]] = []  # a heap; the number breaks ties
        self.pushed = 0
        self.could_fit: dict[Request, bool] = {}
        self.outcome = Outcome(
            trace=trace,
            gpus=sum(machine.gpu_count for machine in machines),
            starts=[None] * len(trace),
            ends=[None] * len(trace),
        )
        begins_at = self.outcome.begins_at if trace else 0.0
        for event in (RulesSet(rules=rules), *joinings(machines)):
            self._feed(event, begins_at)
        self.past.load_hours(self.state, begins_at)

    def play(self) -> Outcome:
        for submit_s, numbers in self._arrivals():
            self._pass_until(submit_s)
            self._submit(numbers, submit_s)
        self._pass_until(None)
        return self.outcome

    def _arrivals(self) -> Iterator[tuple[float, list[int]]]:
        in_order = sorted(range(len(self.trace)), key=lambda number: self.trace[number].submit_s)
        for submit_s, together in groupby(in_order, key=lambda number: self.trace[number].submit_s):
            yield submit_s, list(together)

    def _pass_until(self, moment: float | None) -> None:
        """Let jobs end and timers ring, in the order of time."""
        until = inf if moment is None else moment
        while self.ends and self.ends[0][0] <= until:
            if not self._wake_before(self.ends[0][0]):
                at, _, run = heappop(self.ends)
                if self.runs.get(run.job) is run and run.ends_at == at:
                    self._end(run, at)
        while moment is not None and self._wake_before(moment):
            self._pass_until(moment)

    def _wake_before(self, moment: float) -> bool:
        """Tell the core that time passed if it waits for something before that moment."""
        due = next_due(self.state, self.state.now)
        if due is None or due >= moment:
            return False
        self._feed(TimePassed(), due)
        return True

    def _submit(self, numbers: list[int], now: float) -> None:
        accepted: list[JobSpec] = []
        for number in numbers:
            if self._could_fit(self.trace[number].request):
                self.numbers[JobId(self.state.next_id + len(accepted))] = number
                accepted.append(spec_of(self.trace[number], number))
            else:
                self.outcome.refused.add(number)
        if accepted:
            self._feed(JobsSubmitted(specs=tuple(accepted)), now)

    def _could_fit(self, request: Request) -> bool:
        if request not in self.could_fit:
            self.could_fit[request] = lack(self.state, request) is None
        return self.could_fit[request]

    def _feed(self, event: Event, now: float) -> None:
        commands = deque(self._handled(event, now))
        while commands:
            match commands.popleft():
                case StartJob() as start:
                    commands += self._handled(self._started(start, now), now)
                case SignalJob() as signal:
                    self._ask_to_stop(signal, now)
                case _:
                    pass  # ForgetRun and Notify have no effect here

    def _handled(self, event: Event, now: float) -> list[object]:
        self.past.learn_until(self.state, now)
        commands = handle(self.state, event, now)
        self.state.take_changes()  # not stored; they would take most of the memory
        return list(commands)

    def _started(self, start: StartJob, now: float) -> Reported:
        report = JobStarted(job=start.job, attempt=start.attempt, pid=PID, started_at=now)
        if start.part == 0:
            self._begin(start, now)
        return Reported(node=start.place.node, report=report)

    def _begin(self, start: StartJob, now: float) -> None:
        number = self.numbers[start.job]
        job = self.trace[number]
        run = Run(
            number=number,
            job=start.job,
            attempt=start.attempt,
            nodes=start.booking.nodes,
            gpus=sum(gpu.part for gpu in start.booking.all_gpus),
            started_at=now,
            ends_at=now + job.run_s,
            is_cut_short=job.is_cut_short,
        )
        self.runs[start.job] = run
        self._expect_end(run)
        self.outcome.load(now, run.gpus)

    def _expect_end(self, run: Run) -> None:
        self.pushed += 1
        heappush(self.ends, (run.ends_at, self.pushed, run))

    def _ask_to_stop(self, signal: SignalJob, now: float) -> None:
        """The job uses its whole grace period, unless it would end earlier anyway."""
        run = self.runs.get(signal.job)
        if run is None or signal.node != run.nodes[0]:
            return  # its parts on other nodes end with the first
        self.outcome.preemptions += not run.is_preempted
        if now + signal.grace_s < run.ends_at:
            run.ends_at = now + signal.grace_s
            run.is_preempted = True
            self._expect_end(run)

    def _end(self, run: Run, now: float) -> None:
        del self.runs[run.job]
        self.outcome.load(now, -run.gpus)
        ending = self.trace[run.number].ending
        is_timed_out = run.is_cut_short and not run.is_preempted
        is_stopped = run.is_cut_short or run.is_preempted
        is_signalled = is_stopped or ending == "cancelled"
        report = JobExited(
            job=run.job,
            attempt=run.attempt,
            exit_code=None if is_signalled else int(ending == "failed"),
            signal=TERM if is_signalled else None,
            pid=PID,
            started_at=run.started_at,
            ended_at=now,
            timed_out=is_timed_out,
            was_signalled=True if ending == "cancelled" and not is_stopped else None,
        )
        for node in run.nodes:
            self._feed(Reported(node=node, report=report), now)
        if run.job in self.state.jobs:  # it was requeued, and may already run again
            self.outcome.preempted.append(Attempt(run.number, run.started_at, now, run.gpus))
        else:
            self.outcome.starts[run.number], self.outcome.ends[run.number] = run.started_at, now
            self.outcome.booked[run.number] = run.gpus
            self.outcome.timeouts += is_timed_out
            del self.numbers[run.job]
