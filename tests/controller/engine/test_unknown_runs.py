"""Databases that are replaced or restored while attempts run: random histories against what really runs.

Two nodes run attempts in a simple model. The controller's disk is replaced by an empty one or by an older copy of
itself. Whatever happens, no GPU is given to two attempts, and a node that has joined has a job for each attempt.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tarmac.controller.engine.unknown_runs import SkippedIds, with_records
from tarmac.core.commands import Command, ForgetRun, SignalJob, StartJob
from tarmac.core.events import (
    Event,
    GpusSeen,
    JobExited,
    JobLost,
    JobStarted,
    NodeJoined,
    Reported,
    RunOrigin,
    RunReport,
    StopAsked,
    is_final,
)
from tarmac.core.invariants import invariants
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Booked, Queued, RunName, is_ended
from tarmac.core.state import State
from tests.core.support.builders import a_spec, numbered_gpus, submitted
from tests.core.support.effort import HISTORIES

HOME = NodeName("home")
NODES = {HOME: 2, NodeName("away"): 2}


@dataclass
class Attempt:
    origin: RunOrigin
    report: RunReport
    is_signalled: bool = False

    @property
    def is_over(self) -> bool:
        return is_final(self.report)


@dataclass
class Disk:
    """What a database holds, with the questions that the controller has for it."""

    rows: dict[int, Job] = field(default_factory=dict)
    last: int = 0
    skipped: str | None = None

    def next_id(self) -> int:
        return self.last + 1

    def jobs(self, numbers: list[int]) -> dict[int, Job]:
        return {number: copy.deepcopy(self.rows[number]) for number in numbers if number in self.rows}

    def jobs_submitted_at(self, at: float) -> list[Job]:
        return [copy.deepcopy(job) for job in self.rows.values() if job.submitted_at == at]


class LostDatabases(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.attempts: dict[NodeName, dict[RunName, Attempt]] = {name: {} for name in NODES}
        self.connected: set[NodeName] = set()
        self.is_crashing = False
        self.trace = 0  # the highest id with a log on the home node
        self.disk = Disk()
        self.copies: list[Disk] = []
        self.state = State()
        self.skipped = SkippedIds(None)

    # The controller

    def load(self, disk: Disk) -> None:
        """A controller starts with this database; no node is connected."""
        self.disk, self.connected = disk, set()
        self.skipped = SkippedIds(disk.skipped)
        disk.skipped = self.skipped.add(disk.next_id(), self.trace) or disk.skipped
        self.state = State(rules=Rules(suspend_after_failures=0, starvation_s=1e18))
        live = [copy.deepcopy(job) for job in disk.rows.values() if not is_ended(job.status)]
        self.state.load(live, next_id=max(disk.next_id(), self.trace + 1), now=self.now)
        for name, count in NODES.items():
            handle(self.state, GpusSeen(node=name, gpus=numbered_gpus(count, name)), self.now)

    def feed(self, event: Event) -> None:
        self.now += 1.0
        if isinstance(event, NodeJoined):
            event = with_records(event, self.state, self.disk, self.skipped)  # type: ignore[arg-type]
        commands = handle(self.state, event, self.now)
        changes = self.state.take_changes()
        for job in [*changes.new, *changes.changed.values()]:
            self.disk.rows[job.id] = copy.deepcopy(job)
            self.disk.last = max(self.disk.last, job.id)
        for command in sorted(commands, key=lambda command: not isinstance(command, StartJob)):
            if not self.is_crashing:
                self.carry_out(command)

    # The nodes

    def carry_out(self, command: Command) -> None:
        node = command.booking.node if isinstance(command, StartJob) else command.node  # type: ignore[union-attr]
        assert node in self.connected, f"{command} before {node} said what it runs"
        run = RunName(command.job, command.attempt)  # type: ignore[arg-type, union-attr]
        attempt = self.attempts[node].get(run)
        match command:
            case StartJob():
                assert attempt is None, f"{node} has an attempt {run} already"
                self.start(node, run, command)
            case SignalJob():
                assert attempt is not None
                attempt.is_signalled = True
            case ForgetRun() if attempt is not None:
                self.forget(node, attempt)

    def start(self, node: NodeName, run: RunName, command: StartJob) -> None:
        job = self.state.jobs[command.job]
        gpus = {gpu.uuid for gpu in command.booking.gpus}
        for other in self.alive(node):
            assert not gpus & {gpu.uuid for gpu in other.origin.gpus}, f"{run} gets the GPUs of {other}"
            assert other.origin.submitted_at != job.submitted_at, f"{run} starts again"
        report = JobStarted(job=run.job, attempt=run.attempt, pid=41, started_at=self.now)
        origin = RunOrigin(run=run, submitted_at=job.submitted_at, spec=job.spec, gpus=command.booking.gpus)
        self.attempts[node][run] = Attempt(origin, report)
        if node == HOME:
            self.trace = max(self.trace, run.job)

    def forget(self, node: NodeName, attempt: Attempt) -> None:
        assert attempt.is_over
        stored = self.disk.jobs_submitted_at(attempt.origin.submitted_at)
        assert not stored or any(is_ended(job.status) or job.attempt >= 1 for job in stored)
        del self.attempts[node][attempt.origin.run]

    def alive(self, node: NodeName) -> list[Attempt]:
        return [attempt for attempt in self.attempts[node].values() if not attempt.is_over]

    def report(self, node: NodeName, attempt: Attempt, report: RunReport) -> None:
        attempt.report = report
        if node in self.connected:
            self.feed(Reported(node=node, report=report))

    # Rules

    @initialize()
    def begin(self) -> None:
        self.load(Disk())

    @rule(gpus=st.sampled_from([1, 1, 2]))
    def submit(self, gpus: int) -> None:
        self.feed(submitted(a_spec(gpus=gpus, name=f"at {self.now}")))

    @rule(gpus=st.sampled_from([1, 2]))
    def submit_and_crash(self, gpus: int) -> None:
        """The decision is stored, but no command reaches a node."""
        self.is_crashing = True
        self.submit(gpus)
        self.is_crashing = False
        self.load(self.disk)

    @precondition(lambda self: len(self.connected) < len(NODES))
    @rule(which=st.sampled_from(list(NODES)))
    def join(self, which: NodeName) -> None:
        if which in self.connected:
            return
        self.connected.add(which)
        attempts = list(self.attempts[which].values())
        runs = tuple(attempt.report for attempt in attempts)
        origins = tuple(attempt.origin for attempt in attempts)
        self.feed(NodeJoined(node=which, cpu_job_slots=2, runs=runs, origins=origins))

    @rule(node=st.sampled_from(list(NODES)), number=st.integers(0, 9), code=st.sampled_from([0, 1, None]))
    def end(self, node: NodeName, number: int, code: int | None) -> None:
        """Exit with a code; None: the shim is killed and the processes go on."""
        alive = self.alive(node)
        if alive:
            self.end_one(node, alive[number % len(alive)], code)

    def end_one(self, node: NodeName, attempt: Attempt, code: int | None) -> None:
        run = attempt.origin.run
        if code is None:
            lost = JobLost(job=run.job, attempt=run.attempt, message="its shim was killed", is_alive=True, at=self.now)
            self.report(node, attempt, lost)
            return
        told: dict[str, Any] = {"exit_code": code, "signal": None, "pid": 41}
        exited = JobExited(job=run.job, attempt=run.attempt, started_at=1.0, ended_at=self.now, **told)
        self.report(node, attempt, exited)

    @precondition(lambda self: self.state.jobs)
    @rule(number=st.integers(0, 9))
    def stop(self, number: int) -> None:
        jobs = list(self.state.jobs.values())
        job = jobs[number % len(jobs)]
        if not isinstance(job.status, Booked) or job.status.booking.node in self.connected:
            self.feed(StopAsked(job=job.id, by="ann"))

    @rule(number=st.integers(0, 9))
    def remove(self, number: int) -> None:
        ended = [number for number, job in self.disk.rows.items() if is_ended(job.status)]
        if ended:
            del self.disk.rows[ended[number % len(ended)]]

    @rule()
    def back_up(self) -> None:
        self.copies.append(copy.deepcopy(self.disk))

    @rule()
    def restart(self) -> None:
        self.load(self.disk)

    @rule()
    def replace(self) -> None:
        self.load(Disk())

    @precondition(lambda self: self.copies)
    @rule(number=st.integers(0, 9))
    def restore(self, number: int) -> None:
        self.load(copy.deepcopy(self.copies[number % len(self.copies)]))

    # Invariants

    @invariant()
    def the_state_agrees_with_itself(self) -> None:
        found = invariants.violations(self.state)
        assert found == [], found

    @invariant()
    def every_attempt_of_a_connected_node_has_a_job_with_its_gpus(self) -> None:
        for node in self.connected:
            for attempt in self.alive(node):
                origin = attempt.origin
                (job,) = [
                    job
                    for job in self.state.jobs.values()
                    if isinstance(job.status, Booked) and job.status.booking.node == node and job.run == origin.run
                ]
                assert job.submitted_at == origin.submitted_at
                assert isinstance(job.status, Booked)
                held = {gpu.uuid for gpu in job.status.booking.gpus}
                assert held == {gpu.uuid for gpu in origin.gpus}

    def teardown(self) -> None:
        """Once all nodes are there and all attempts end, nothing is left."""
        for node in NODES:
            self.join(node)
        for job in [job for job in self.state.jobs.values() if isinstance(job.status, Queued)]:
            self.feed(StopAsked(job=job.id, by="ann"))
        for node in NODES:
            for attempt in list(self.alive(node)):
                self.end_one(node, attempt, 0)
        assert self.state.jobs == {}
        assert self.attempts == {node: {} for node in NODES}


TestLostDatabases = LostDatabases.TestCase
TestLostDatabases.settings = settings(HISTORIES, max_examples=max(100, HISTORIES.max_examples // 3))


def test_an_attempt_that_was_taken_in_under_another_id_is_not_taken_in_twice() -> None:
    """Its end is stored, but the node did not hear that it may forget it."""
    machine = LostDatabases()
    machine.load(Disk())
    machine.submit(1)  # 1, waits
    origin = RunOrigin(run=RunName(JobId(1), 1), submitted_at=5.0, spec=a_spec(), gpus=())
    exited = JobExited(job=JobId(1), attempt=1, exit_code=0, signal=None, pid=41, started_at=1.0, ended_at=2.0)
    attempt = Attempt(origin, exited)
    for _ in range(2):
        machine.load(machine.disk)
        machine.attempts[HOME] = {origin.run: attempt}
        machine.join(HOME)
        assert origin.run not in machine.attempts[HOME]
        ended = [job for job in machine.disk.rows.values() if is_ended(job.status)]
        assert [job.id for job in ended] == [2]


def test_ids_that_only_logs_mention_count_as_never_given() -> None:
    skipped = SkippedIds(None)
    text = skipped.add(1, 6)
    assert text is not None
    assert (3 in skipped, 7 in skipped) == (True, False)
    again = SkippedIds(text)
    assert again.add(1, 6) is None
    assert again.add(7, 6) is None
    assert 6 in again
