"""Random histories of a controller and its nodes, compared with the simulated world."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, nan
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tarmac.core.events import (
    Event,
    JobsPaused,
    JobsResumed,
    JobsRetried,
    NodeAdded,
    NodeForgotten,
    NodeJoined,
    NodeLeft,
    NodeRemoved,
    NodesDrained,
    NodesResumed,
    ProgressSeen,
    Reported,
    RunReport,
    StopAsked,
    TimePassed,
)
from tarmac.core.invariants import invariants
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Request
from tarmac.core.model.plan import EndByProgress
from tarmac.core.model.status import Paused, is_ended
from tests.core.support.builders import a_spec, exited, gone, launch_failed, lost, started, submitted
from tests.core.support.driver import Driver
from tests.core.support.effort import HISTORIES
from tests.core.support.world import FakeNode, Run, World

T = TypeVar("T")

pytestmark = pytest.mark.timeout(3600)  # many take long, see `effort`

one_of = st.integers(0, 10_000)  # selects one of the existing objects
A, B, C = NodeName("a"), NodeName("b"), NodeName("c")
request = st.builds(
    Request,
    gpus=st.sampled_from([1, 1, 1, 2, 3, 0]),
    only_nodes=st.sampled_from([(), (), (), (A,), (B, A)]),
    exclude_nodes=st.sampled_from([(), (), (), (A,), (B,)]),
    prefer_nodes=st.sampled_from([(), (), (), (B,), (A, B)]),
)
several = st.builds(
    lambda wide, **more: Request(gpus=wide[0], node_count=wide[1], **more),
    st.sampled_from([(1, 2), (1, 2), (2, 2), (1, 3), (0, 2)]),
    prefer_nodes=st.sampled_from([(), (), (B,), (C, A)]),
)
spec = st.builds(
    lambda asked, **more: replace(a_spec(**more), request=asked),
    st.one_of(request, request, several),
    owner=st.sampled_from(["ann", "bob"]),
    priority=st.sampled_from([10, 10, 5, 20]),
    retries=st.sampled_from([0, 0, 1, 2]),
    retry_on=st.sampled_from([("exit", "signal", "oom", "launch"), ("exit",), ("launch", "lost")]),
    retry_delay_s=st.sampled_from([None, 0.0, 30.0]),
)


def pick(those: Sequence[T], number: int) -> T:
    return those[number % len(those)]


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World(a=3, b=1, c=2)
        self.driver = Driver(self.world)
        self.is_grouping = False  # several events share the next commit
        self.is_smooth = True  # commands and reports arrive at once
        self.ended: dict[tuple[int, int], dict[str, Any]] = {}  # by job and how often a person retried it

    @property
    def nodes(self) -> list[FakeNode]:
        return list(self.world.nodes.values())

    def feed(self, event: Event) -> None:
        self.driver.feed(event)
        if not self.is_grouping:
            self.driver.commit()

    @initialize(
        is_in_reach=st.sampled_from([True, True, False]),
        is_smooth=st.sampled_from([True, True, False]),
        policy=st.sampled_from(["fifo", "balance"]),
        placement=st.sampled_from(["pack", "spread"]),
    )
    def begin_with_nodes(self, is_in_reach: bool, is_smooth: bool, policy: str, placement: str) -> None:
        self.driver = Driver(self.world, policy, placement)
        self.is_smooth = is_smooth
        if is_in_reach:
            for node in self.nodes:
                self.world.connect(node)
            self.hear_all()

    @rule(is_smooth=st.booleans())
    def flow(self, is_smooth: bool) -> None:
        self.is_smooth = is_smooth
        self.go_on()

    def then(self) -> None:
        if self.is_smooth:
            self.go_on()

    def go_on(self) -> None:
        """Carry out everything that happens if nothing goes wrong."""
        while any(node.commands or node.events for node in self.nodes) or self.world.in_phase("launching"):
            self.obey_all()
            for run in self.world.in_phase("launching"):
                self.world.begin(run)
            self.hear_all()

    # People

    @rule(specs=st.lists(spec, min_size=1, max_size=4))
    def submit(self, specs: list[Any]) -> None:
        # Each job has a unique name, so that its runtime is unknown; other tests cover expected ends.
        first = self.driver.state.next_id
        self.feed(submitted(*(replace(spec, name=f"run {first + n}") for n, spec in enumerate(specs))))
        self.then()

    @precondition(lambda self: self.driver.state.jobs)
    @rule(number=one_of, grace_s=st.sampled_from([None, 0.0, 5.0]))
    def ask_to_stop(self, number: int, grace_s: float | None) -> None:
        self.feed(StopAsked(job=pick(list(self.driver.state.jobs), number), by="ann", grace_s=grace_s))
        self.then()

    @rule(number=st.integers(0, 40))
    def ask_to_stop_anything(self, number: int) -> None:
        """Ended jobs and jobs that never existed."""
        self.feed(StopAsked(job=JobId(number), by="ann"))

    @precondition(lambda self: self.driver.state.jobs)
    @rule(number=one_of, is_paused=st.sampled_from([True, True, False]))
    def pause_or_resume(self, number: int, is_paused: bool) -> None:
        jobs = (pick(list(self.driver.state.jobs), number),)
        self.feed(JobsPaused(jobs=jobs, by="ann") if is_paused else JobsResumed(jobs=jobs, by="ann"))
        self.then()

    @precondition(lambda self: any(not row["is_live"] for row in self.driver.disk.values()))
    @rule(number=one_of)
    def retry_by_hand(self, number: int) -> None:
        over = [
            job for job, row in self.driver.disk.items() if not row["is_live"] and job not in self.driver.state.jobs
        ]
        if over:
            job = pick(over, number)
            self.feed(JobsRetried(by="ann", jobs=(self.driver.stored(job),)))
            self.then()

    @rule(number=one_of, is_drained=st.booleans())
    def drain_or_resume(self, number: int, is_drained: bool) -> None:
        nodes = (pick(self.nodes, number).name,)
        self.feed(NodesDrained(nodes=nodes, by="ann", reason="fans") if is_drained else NodesResumed(nodes=nodes))
        self.then()

    @rule(number=one_of, is_watch_only=st.sampled_from([True, False, False]))
    def configure(self, number: int, is_watch_only: bool) -> None:
        self.commit()  # the config file does not change with a decision
        self.feed(NodeAdded(node=pick(self.nodes, number).name, is_watch_only=is_watch_only))
        self.then()

    @rule(number=one_of)
    def remove_node(self, number: int) -> None:
        """Nothing happens while a job holds something there."""
        node = pick(self.nodes, number)
        known = self.driver.state.nodes.get(node.name)
        if known is None or not known.host:
            self.world.disconnect(node)
        self.commit()
        self.feed(NodeRemoved(node=node.name))
        assert (node.name in self.driver.state.nodes) == (known is not None and bool(known.host))
        self.then()

    @rule(number=one_of)
    def forget_node(self, number: int) -> None:
        """The machine is gone, and a person says so. Another machine may come under its name."""
        node = pick(self.nodes, number)
        self.commit()
        known = self.driver.state.nodes.get(node.name)
        if known is None:
            return
        if known.is_connected:
            self.feed(NodeForgotten(node=node.name, by="ann"))
            assert self.driver.state.nodes[node.name] is known, "a node that is connected is not gone"
            self.feed(NodeLeft(node=node.name))
        self.world.destroy(node, [key for job in known.host if (key := self.driver.open_part(job, node.name))])
        self.feed(NodeForgotten(node=node.name, by="ann"))
        self.commit()
        assert node.name not in self.driver.state.nodes
        self.then()

    # What happens on the nodes

    @precondition(lambda self: self.world.in_phase("launching"))
    @rule(number=one_of)
    def begin(self, number: int) -> None:
        self.world.begin(pick(self.world.in_phase("launching"), number))

    @precondition(lambda self: self.world.in_phase("launching", "alive"))
    @rule(number=one_of)
    def fail_to_launch(self, number: int) -> None:
        """The node reports the start as soon as a process exists; the program may still be missing."""
        self.world.fail_launch(pick(self.world.in_phase("launching", "alive"), number))
        self.then()

    @precondition(lambda self: self.world.in_phase("alive"))
    @rule(number=one_of, end=st.sampled_from([(0, None), (1, None), (137, None), (None, 9), (None, 15)]))
    def end(self, number: int, end: tuple[int | None, int | None]) -> None:
        self.world.end(pick(self.world.in_phase("alive"), number), *end)
        self.then()

    @precondition(lambda self: self.world.in_phase("alive"))
    @rule(number=one_of, is_alive=st.sampled_from([True, True, False]))
    def kill_shim(self, number: int, is_alive: bool) -> None:
        self.world.kill_shim(pick(self.world.in_phase("alive"), number), is_alive=is_alive)
        self.then()

    @precondition(lambda self: self.world.in_phase("orphaned"))
    @rule(number=one_of)
    def lose_tree(self, number: int) -> None:
        self.world.lose_tree(pick(self.world.in_phase("orphaned"), number))
        self.then()

    @rule(node=one_of, visible=st.sets(st.integers(0, 2)))
    def show_gpus(self, node: int, visible: set[int]) -> None:
        self.world.show_gpus(pick(self.nodes, node), frozenset(visible))
        self.then()

    # The connection

    @rule()
    def obey_all(self) -> None:
        for node in self.nodes:
            while node.commands:
                self.world.obey(node)

    @rule()
    def hear_all(self) -> None:
        for node in self.nodes:
            while node.events:
                self.feed(node.events.pop(0))

    @precondition(lambda self: any(node.commands for node in self.nodes))
    @rule(number=one_of)
    def obey_one(self, number: int) -> None:
        self.world.obey(pick([node for node in self.nodes if node.commands], number))

    @precondition(lambda self: any(node.events for node in self.nodes))
    @rule(number=one_of)
    def hear_one(self, number: int) -> None:
        self.feed(pick([node for node in self.nodes if node.events], number).events.pop(0))

    @precondition(lambda self: any(not node.link for node in self.nodes))
    @rule(number=one_of, begins=st.booleans())
    def join(self, number: int, begins: bool) -> None:
        self.connect(pick([node for node in self.nodes if not node.link], number), begins=begins)
        self.then()

    @rule(number=one_of, happens=st.sampled_from(["break", "reboot", "notice"]))
    def lose_node(self, number: int, happens: str) -> None:
        node = pick(self.nodes, number)
        if happens == "break":
            self.world.disconnect(node)
        elif happens == "reboot":
            self.world.reboot(node)
        elif not node.link:
            self.feed(NodeLeft(node=node.name))

    def connect(self, node: FakeNode, *, begins: bool) -> None:
        for run in [run for run in self.world.of(node) if run.phase == "launching"]:
            self.world.begin(run) if begins else self.world.vanish(run)
        known = self.driver.state.nodes.get(node.name)
        if known is not None and known.is_connected:
            self.feed(NodeLeft(node=node.name))
        self.world.connect(node)

    # Wrong reports

    @precondition(lambda self: any(len(node.events) > 1 for node in self.nodes))
    @rule(number=one_of, later=one_of)
    def hear_out_of_order(self, number: int, later: int) -> None:
        node = pick([node for node in self.nodes if len(node.events) > 1], number)
        reports = [event for event in node.events if isinstance(event, Reported)]
        if reports and not isinstance(node.events[0], NodeJoined):
            said = pick(reports, later)
            node.events.remove(said)
            self.feed(said)

    @precondition(lambda self: self.world.sent)
    @rule(number=one_of)
    def hear_again(self, number: int) -> None:
        self.feed(pick(self.world.sent, number))

    @precondition(lambda self: self.driver.state.jobs)
    @rule(number=one_of, says=st.sampled_from([started, exited, launch_failed, lost, gone]), attempt=st.integers(0, 2))
    def hear_wrongly(self, number: int, says: Callable[..., RunReport], attempt: int) -> None:
        """A report of another attempt, or from the wrong node."""
        job = pick(list(self.driver.state.jobs.values()), number)
        on = getattr(job.status, "booking", None)
        for node in self.nodes:
            if attempt != job.attempt or on is None or node.name not in on.nodes:
                self.feed(Reported(node=node.name, report=says(job.id, attempt=attempt)))

    @precondition(lambda self: self.driver.state.jobs)
    @rule(
        number=one_of,
        left_s=st.sampled_from([None, 60.0, 3600.0, 0.0, -60.0, 1e12, inf, nan]),
        attempt=st.sampled_from([0, 0, -1, 1]),
    )
    def see_progress(self, number: int, left_s: float | None, attempt: int) -> None:
        """A job prints a bar, perhaps a senseless one. The reading may be of another attempt."""
        job = pick(list(self.driver.state.jobs.values()), number)
        at = None if left_s is None else self.driver.now + left_s
        self.feed(ProgressSeen(ends=(EndByProgress(job.id, job.attempt + attempt, at),)))
        self.then()

    # Failures of the controller

    @rule(seconds=st.sampled_from([1.0, 0.0, -3600.0, 1e9, -2e9]))
    def pass_time(self, seconds: float) -> None:
        self.driver.now += seconds

    @rule()
    def group(self) -> None:
        self.is_grouping = True

    @rule()
    def commit(self) -> None:
        self.is_grouping = False
        self.driver.commit()

    @rule(is_killed=st.booleans())
    def lose_memory(self, is_killed: bool) -> None:
        """The controller is killed, or a commit fails. Commands of the previous commit are lost with the connection."""
        self.is_grouping = False
        if is_killed:
            self.driver.crash()
        else:
            self.driver.fail_commit()

    # Invariants after every step

    @invariant()
    def the_state_agrees_with_itself(self) -> None:
        assert invariants.violations(self.driver.state) == []

    @invariant()
    def what_was_acknowledged_is_accounted_for(self) -> None:
        assert {n: self.driver.stored(n).spec for n in self.driver.disk} == self.driver.acknowledged

    @invariant()
    def reading_it_back_gives_the_same(self) -> None:
        if not self.driver.is_committed:
            return
        live, read = self.driver.state, self.driver.reload()
        assert read.jobs == live.jobs
        assert read.next_id == live.next_id
        assert list(read.queue.in_order()) == list(live.queue.in_order())
        for name, node in live.nodes.items():
            assert (read.node(name).drain, read.node(name).is_watch_only) == (node.drain, node.is_watch_only)
            assert (read.node(name).booked, read.node(name).host) == (node.booked, node.host)

    @invariant()
    def what_has_ended_ended_as_the_world_says_and_stays_so(self) -> None:
        for number, row in self.driver.disk.items():
            key = (number, self.driver.revivals[number])
            if key in self.ended:
                assert row == self.ended[key]
            elif not row["is_live"]:
                self.driver.compare_end(self.driver.stored(number))
                self.ended[key] = dict(row)

    @invariant()
    def what_runs_is_booked(self) -> None:
        self.driver.compare_living()

    # At the end

    def teardown(self) -> None:
        if sys.exc_info()[0] is None:
            self.settle()

    def settle(self) -> None:
        """With connected nodes and no further failures, every job ends and every attempt is forgotten."""
        self.commit()
        for node in self.nodes:
            self.feed(NodeAdded(node=node.name))
            self.feed(NodesResumed(nodes=(node.name,)))
            self.world.show_gpus(node, frozenset(range(len(node.gpus))))
            if not node.link:
                self.connect(node, begins=False)
        for job in list(self.driver.state.jobs.values()):
            if not self.could_run(job.spec.request):
                self.feed(StopAsked(job=job.id, by="ann"))
        for _ in range(4 * len(self.driver.disk) + 4):
            self.driver.now += 1e6  # longer than any wait between two attempts
            self.feed(TimePassed())
            self.hear_all()
            self.obey_all()
            for run in list(self.world.runs.values()):
                self.bring_forward(run)
            self.what_has_ended_ended_as_the_world_says_and_stays_so()
            self.resume_all()
        assert self.driver.state.jobs == {}
        assert self.world.runs == {}
        assert all(is_ended(self.driver.stored(number).status) for number in self.driver.acknowledged)

    def could_run(self, asked: Request) -> bool:
        """Could the nodes run it, if they were empty?"""
        allowed = [node for node in self.nodes if node.name in (asked.only_nodes or (node.name,))]
        able = [node for node in allowed if len(node.gpus) >= asked.gpus and node.name not in asked.exclude_nodes]
        return len(able) >= asked.node_count

    def resume_all(self) -> None:
        paused = [job.id for job in self.driver.state.jobs.values() if isinstance(job.status, Paused)]
        if paused:
            self.feed(JobsResumed(jobs=tuple(paused), by="ann"))
            self.then()

    def bring_forward(self, run: Run) -> None:
        """Stopping jobs end by their signal; the others exit."""
        if run.phase == "launching":
            self.world.begin(run)
        elif run.key[0] in self.driver.stop_asked and not run.is_signalled:
            return
        elif run.phase == "orphaned":
            self.world.lose_tree(run)
        elif run.phase == "alive" and not run.is_paused:
            self.world.end(run, *((None, 15) if run.is_signalled else (0, None)))


TestHistories = Histories.TestCase
TestHistories.settings = HISTORIES
