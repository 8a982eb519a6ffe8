"""Jobs with exact durations: time jumps from one end to the next. For tests of guarantees about starts."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from tarmac.core.commands import StartJob
from tarmac.core.events import JobsSubmitted
from tarmac.core.machine import handle
from tarmac.core.policy.scheduling_pass import Pass
from tarmac.core.state import State
from tests.core.support.play import report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.core.events import Event
    from tarmac.core.model.job import JobSpec
    from tarmac.core.model.node import Node
    from tarmac.core.model.plan import PlannedStart
    from tarmac.core.model.rules import Rules


class Clockwork:
    """`lasting`: the fraction of its limit, or of ten seconds, that each job runs, from job 1 on. Limits are kept."""

    def __init__(self, nodes: Sequence[Node], rules: Rules, lasting: Sequence[float]) -> None:
        self.state = State(rules=rules)
        self.state.nodes.update((node.name, node) for node in nodes)
        self.now = 1000.0
        self.lasting = lasting
        self.started: dict[int, float] = {}
        self.log: list[tuple[float, int, str, tuple[str, ...]]] = []
        self.ends: list[tuple[float, int]] = []

    def submit(self, *specs: JobSpec) -> None:
        self._happen(JobsSubmitted(specs=specs))

    def end_next(self) -> int:
        """End the next job that is due."""
        self.now, number = heappop(self.ends)
        self._happen(report(self.state.jobs[number], "exit", self.now))  # type: ignore[index]
        return number

    def planned_start(self) -> PlannedStart | None:
        turn = Pass(self.state, self.now)
        assert next(turn.run(), None) is None
        return turn.plans[0] if turn.plans else None

    def _happen(self, event: Event) -> None:
        starts = [said for said in handle(self.state, event, self.now) if isinstance(said, StartJob)]
        for said in starts:
            job = self.state.jobs[said.job]
            self.started[job.id] = self.now
            self.log.append((self.now, job.id, said.booking.node, tuple(gpu.uuid for gpu in said.booking.gpus)))
            lasts, limit_s = self.lasting[job.id % len(self.lasting)], job.spec.time_limit_s
            length_s = 10.0 * lasts if limit_s is None else limit_s * min(1.0, lasts)
            heappush(self.ends, (self.now + length_s, job.id))
        for said in starts:
            self.state.take_changes()
            handle(self.state, report(self.state.jobs[said.job], "start", self.now), self.now)
