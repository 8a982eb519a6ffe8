"""The parts of a job on several nodes: started, stopped and counted as one."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import permutations, product
from typing import Any

import pytest

from tarmac.core.commands import Command, ForgetRun, PauseJob, SignalJob, StartJob
from tarmac.core.events import (
    JobExited,
    JobLost,
    JobsPaused,
    JobsResumed,
    LaunchFailed,
    NodeForgotten,
    NodeJoined,
    NodeLeft,
    Reported,
    RunReport,
    StopAsked,
    TreeGone,
)
from tarmac.core.invariants import invariants
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.part import PartEnd
from tarmac.core.model.status import Booking, holds_booking, state_name
from tarmac.core.state import State
from tests.core.support.builders import (
    NOW,
    a_node,
    a_spec,
    a_state,
    exited,
    free_gpus,
    gone,
    killed,
    launch_failed,
    lost,
    started,
    submitted,
)

A, B = NodeName("a"), NodeName("b")
NODES = (A, B)
PORT = 23456
FINAL: dict[str, RunReport] = {
    "success": exited(),
    "exit": exited(exit_code=3),
    "signal": killed(signal=9),
    "launch": launch_failed(),
    "lost": lost(),
    "gone": gone(),
}
STATES = {
    "success": "succeeded",
    "exit": "failed",
    "signal": "failed",
    "launch": "failed",
    "lost": "unknown",
    "gone": "unknown",
}


class Two:
    """Two nodes with a GPU each, and a job that needs both."""

    def __init__(self, **more: Any) -> None:
        self.state: State = a_state(a_node(gpus=1, name=A), a_node(gpus=1, name=B))
        self.commands: list[Command] = handle(self.state, submitted(a_spec(nodes=2, **more)), NOW)
        self.job: Job = self.state.jobs[JobId(1)]

    def hear(self, node: NodeName, report: RunReport) -> list[Command]:
        return self.happen(Reported(node=node, report=report))

    def happen(self, event: Any) -> list[Command]:
        self.commands = handle(self.state, event, NOW)
        assert invariants.violations(self.state) == []
        return self.commands

    def run(self) -> Two:
        """Both parts run."""
        self.hear(A, replace(started(), port=PORT))
        self.hear(B, started(pid=42))
        return self

    def rejoin(self, node: NodeName, *runs: RunReport) -> list[Command]:
        self.happen(NodeLeft(node=node))
        return self.happen(NodeJoined(node=node, cpu_job_slots=1, runs=runs))

    @property
    def name(self) -> str:
        return state_name(self.job.status)

    @property
    def booking(self) -> Booking:
        booking = self.job.status.booking  # type: ignore[union-attr]
        assert booking is not None
        return booking

    @property
    def free(self) -> int:
        return sum(len(free_gpus(node)) for node in self.state.nodes.values())

    def sent(self, kind: type[Any]) -> list[NodeName]:
        """The nodes that commands of this kind went to."""
        those = [command for command in self.commands if isinstance(command, kind)]
        return [one.place.node if isinstance(one, StartJob) else one.node for one in those]


def test_both_gpus_are_booked_before_the_first_part_is_started() -> None:
    two = Two()
    assert (two.name, two.sent(StartJob), two.free) == ("starting", [A], 0)


def test_the_others_start_once_the_first_has_named_its_port() -> None:
    two = Two()
    two.hear(A, replace(started(), port=PORT))
    (start,) = [command for command in two.commands if isinstance(command, StartJob)]
    assert (start.place.node, start.part, start.port, start.attempt) == (B, 1, PORT, 1)
    assert two.name == "running"
    assert two.hear(A, replace(started(), port=PORT)) == [], "a repeated report starts nothing again"


@pytest.mark.parametrize(("first", "second"), list(product(FINAL, FINAL)))
def test_the_job_ends_as_the_part_that_ended_badly_first(first: str, second: str) -> None:
    two = Two().run()
    two.hear(B, FINAL[first])
    assert (two.free, two.sent(ForgetRun)) == (0, [B]), "nothing is free until all parts are over"
    assert two.sent(SignalJob) == ([] if first == "success" else [A])
    if first != "success":
        assert two.job.status.booking.progress.cause == 1  # type: ignore[union-attr]
    two.hear(A, FINAL[second])
    assert (two.free, two.sent(ForgetRun)) == (2, [A])
    assert two.name == STATES[second if first == "success" else first]


@pytest.mark.parametrize("report", ["exit", "signal", "launch", "lost", "gone"])
def test_parts_that_were_not_sent_are_never_sent(report: str) -> None:
    two = Two()
    two.hear(A, FINAL[report])
    assert two.sent(StartJob) == []
    assert two.name == STATES[report]
    assert two.free == 2


def test_a_first_part_that_ended_well_before_its_start_was_known_does_not_end_the_others() -> None:
    two = Two()
    two.hear(A, exited())
    assert two.sent(StartJob) == [B]
    two.hear(B, started())
    assert two.name == "running"
    two.hear(B, exited())
    assert two.name == "succeeded"


def test_a_stop_before_the_first_start_reaches_the_first_part_only() -> None:
    two = Two()
    two.happen(StopAsked(job=JobId(1), by="ann"))
    assert two.sent(SignalJob) == [A]
    two.hear(A, started())
    assert two.sent(StartJob) == []
    two.hear(A, killed())
    assert (two.name, two.free) == ("cancelled", 2)


@pytest.mark.parametrize("order", list(permutations(NODES)))
def test_a_stop_reaches_all_parts(order: tuple[NodeName, ...]) -> None:
    two = Two().run()
    two.happen(StopAsked(job=JobId(1), by="ann"))
    assert two.sent(SignalJob) == [A, B]
    for node in order:
        assert two.name == "stopping"
        two.hear(node, replace(killed(), was_signalled=True))
    assert two.name == "cancelled"


def test_a_pause_reaches_parts_that_start_later() -> None:
    two = Two()
    two.hear(A, started())
    two.happen(JobsPaused(jobs=(JobId(1),), by="ann"))
    assert two.sent(PauseJob) == [A]
    two.hear(B, started())
    assert two.sent(PauseJob) == [B]
    two.happen(JobsResumed(jobs=(JobId(1),), by="ann"))
    assert two.sent(PauseJob) == [A, B]


def test_a_node_without_a_trace_gets_the_same_part_again() -> None:
    two = Two()
    two.rejoin(A)
    assert two.sent(StartJob) == [A]
    two.rejoin(B)
    assert two.sent(StartJob) == [], "its turn has not come"
    two.hear(A, replace(started(), port=PORT))
    two.rejoin(B)
    assert [(start.part, start.port) for start in two.commands if isinstance(start, StartJob)] == [(1, PORT)]
    two.rejoin(B, started())
    assert two.sent(StartJob) == []


def test_a_part_that_ran_and_left_no_trace_is_lost_and_is_not_started_again() -> None:
    two = Two().run()
    two.rejoin(B)
    assert (two.sent(StartJob), two.sent(SignalJob), two.name) == ([], [A], "running")
    two.hear(A, replace(killed(), was_signalled=True))
    assert (two.name, two.free) == ("unknown", 2)


def test_a_part_without_a_trace_is_not_started_while_the_job_is_ending() -> None:
    two = Two()
    two.hear(A, started())
    two.hear(A, exited(exit_code=1))
    assert two.sent(SignalJob) == [B], "the start may be under way"
    two.rejoin(B)
    assert two.sent(StartJob) == []
    assert (two.name, two.free) == ("failed", 2)


def test_the_stop_of_a_part_is_repeated_when_its_node_joins() -> None:
    two = Two().run()
    two.hear(B, exited(exit_code=1))
    two.rejoin(A, started())
    assert two.sent(SignalJob) == [A]


def test_an_orphaned_part_makes_the_job_unknown_and_stops_the_others() -> None:
    two = Two().run()
    two.hear(B, lost(is_alive=True))
    assert (two.name, two.sent(SignalJob)) == ("unknown", [A])
    two.hear(A, replace(killed(), was_signalled=True))
    assert (two.name, two.free) == ("unknown", 0), "processes are left"
    two.hear(B, gone())
    assert two.free == 2
    assert holds_booking(two.job.status) is None


def test_a_retry_starts_all_parts_again() -> None:
    two = Two(retries=1).run()
    two.hear(B, exited(exit_code=1))
    two.hear(A, replace(killed(), was_signalled=True))
    assert (two.name, two.job.attempt, two.sent(StartJob)) == ("starting", 2, [A])
    assert two.booking.progress is None


def test_reports_of_nodes_and_attempts_that_the_job_does_not_have_are_ignored() -> None:
    two = Two().run()
    before = two.job.status
    two.state.nodes[NodeName("c")] = a_node(gpus=1, name="c")
    two.hear(NodeName("c"), exited(exit_code=1))
    two.hear(B, exited(attempt=2, exit_code=1))
    assert two.job.status is before


def test_a_forgotten_node_releases_its_gpus_and_ends_the_job_elsewhere() -> None:
    two = Two().run()
    two.happen(NodeLeft(node=B))
    two.happen(NodeForgotten(node=B, by="ann"))
    assert B not in two.state.nodes
    assert (two.sent(SignalJob), two.name) == ([A], "running")
    two.hear(A, replace(killed(), was_signalled=True))
    assert two.name == "unknown"
    assert (two.free, B in two.state.nodes) == (1, False)


def test_the_end_of_a_part_stores_every_field_of_its_report() -> None:
    known = {one.name for one in fields(PartEnd)}
    elsewhere = {"job", "attempt", "ended_at", "is_alive"}  # in the job, in `at` and in the kind
    for kind in (JobExited, LaunchFailed, JobLost, TreeGone):
        assert {one.name for one in fields(kind)} <= known | elsewhere, kind
