"""A controller for tests of the core: decide, commit, carry out, with rows in memory as the disk.

A command is sent on the connection under which it was decided, or not at all.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tarmac.core.commands import Command, SignalJob, StartJob
from tarmac.core.events import (
    Event,
    GpusSeen,
    JobsRetried,
    NodeAdded,
    NodeForgotten,
    NodeJoined,
    NodeLeft,
    NodeRemoved,
    NodesDrained,
    NodesResumed,
    StopAsked,
)
from tarmac.core.explain.reasons import NoNode, RetryAt, TooFewGpus
from tarmac.core.fit.closure import NodeDrained
from tarmac.core.fit.gpu_fit import Taken
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Cancelled, Failed, Stopping, Succeeded, Unknown, is_ended
from tarmac.core.policy.scheduling_pass import MAX_STUCK
from tarmac.core.state import State
from tarmac.store import rows
from tests.core.support import reference
from tests.core.support.explaining import explain
from tests.core.support.reference import Floor, Told
from tests.core.support.world import World, kind_of

INSERTED = (
    "id", "owner", "name", "state", "is_live", "attempt", "position", "submitted_at", "group_id",
    "array_index", "spec", "status",
)  # fmt: skip
UPDATED = ("state", "is_live", "attempt", "position", "retried", "ooms", "status", "id")
EDITED = ("name", "spec", "id")


class Driver:
    def __init__(self, world: World, policy: str = "fifo", placement: str = "pack") -> None:
        self.world = world
        self.rules = Rules(
            policy=policy,
            placement=placement,
            planned_starts=0,
            starvation_s=1e18,
            suspend_after_failures=0,
            drain_node_after_failures=0,
        )
        self.state = State(rules=self.rules)
        self.now = 1000.0
        self.disk: dict[int, dict[str, Any]] = {}
        self.next_id = 1
        self.acknowledged: dict[int, Any] = {}  # id -> the request
        self.stop_asked: set[int] = set()  # committed while the job had not ended
        self.revivals: Counter[int] = Counter()  # how often a person retried each job
        self.attempts: list[tuple[int, int]] = []  # whose end is recorded
        self.told: dict[str, Told] = {}
        self.drains: dict[NodeName, str] = {}  # stored
        self.watch_only: set[NodeName] = set()  # as the config file says
        self._unkept_stops: set[int] = set()
        self._unkept_retries: dict[int, int] = {}  # the attempt after which a person retried the job
        self._outgoing: list[tuple[int, Command]] = []  # each with the connection under which it was decided

    # Decide

    def feed(self, event: Event) -> None:
        self._listen(event)
        lines = len(self.state.changes.story)
        commands = handle(self.state, event, self.now)
        self._outgoing += [(self.world.nodes[_node(command)].link, command) for command in commands]
        decided = [line.job for line in self.state.changes.story[lines:] if line.kind == "Decided"]
        self._compare_with_reference(decided)
        self._compare_explanations()

    def _listen(self, event: Event) -> None:
        match event:
            case NodeJoined(node=name, cpu_job_slots=slots):
                told = self.told.setdefault(name, Told())
                told.is_connected, told.slots = True, slots
            case NodeLeft(node=name):
                self.told.setdefault(name, Told()).is_connected = False
            case GpusSeen(node=name, gpus=gpus):
                self.told.setdefault(name, Told()).uuids = tuple(gpu.uuid for gpu in gpus)
            case StopAsked(job=job):
                if job in self.state.jobs:
                    self._unkept_stops.add(job)
            case JobsRetried(jobs=jobs):
                retried = [job for job in jobs if job.id not in self.state.jobs]
                self._unkept_retries.update((job.id, job.attempt) for job in retried)
                self._unkept_stops -= {job.id for job in retried}  # a stop in the same commit was about the end before
            case _:
                self._listen_to_decisions(event)

    def _listen_to_decisions(self, event: Event) -> None:
        """What people decide about nodes."""
        match event:
            case NodesDrained(nodes=names) | NodesResumed(nodes=names):
                for name in names:
                    self.told.setdefault(name, Told()).is_drained = isinstance(event, NodesDrained)
            case NodeAdded(node=name, is_watch_only=is_watch_only):
                self.told.setdefault(name, Told()).is_watch_only = is_watch_only
                (self.watch_only.add if is_watch_only else self.watch_only.discard)(name)
            case NodeRemoved(node=name):
                if name in self.state.nodes and not self.state.nodes[name].host:
                    self.told.pop(name, None)
                    self.watch_only.discard(name)
            case NodeForgotten(node=name):
                if not self.state.nodes[name].is_connected:
                    self.told.pop(name, None)
                    self.watch_only.discard(name)
            case _:
                pass

    def _compare_with_reference(self, decided: list[JobId]) -> None:
        jobs = list(self.state.jobs.values())
        floor = Floor(self.told, [job for job in jobs if job.id not in decided], self.rules.placement)
        waiting = [job for job in jobs if reference.may_start(job, self.now) or job.id in decided]
        starts = [_start(self.state.jobs[number]) for number in decided]
        are_ends_known = self.state.runtimes.ends_by_progress or any(isinstance(job.status, Stopping) for job in jobs)
        if are_ends_known or len({(job.spec.owner, job.spec.request) for job in waiting}) > MAX_STUCK:
            # Where ends are known, GPUs may be held back for a wide job: fewer jobs start than fit. Where very many
            # different requests wait, a pass goes on to backfill, in which the turns of owners may be others.
            for start in starts:
                floor.take(*start)
        else:
            assert starts == reference.starts(floor, waiting, list(self.state.nodes), self.rules.policy)

    def _compare_explanations(self) -> None:
        floor = Floor(self.told, list(self.state.jobs.values()))
        for job in self.state.jobs.values():
            reasons = explain(self.state, job, self.now)
            assert bool(reasons) == reference.is_waiting(job)
            if not reference.may_start(job, self.now):
                assert [type(reason) for reason in reasons] == [RetryAt] * len(reasons)
            elif reasons and not any(told.is_connected for told in self.told.values()):
                assert reasons == (NoNode(),)
            for reason in reasons:
                if isinstance(reason, NodeDrained):
                    assert self.told[reason.node].is_drained
                if isinstance(reason, TooFewGpus):
                    assert floor.may_run(job.spec.request, reason.node)
                    has = self.told[reason.node].uuids
                    assert (reason.asked, reason.total) == (job.spec.request.gpus, len(has))
                    assert reason.free == len(floor.free(reason.node)) < reason.asked
                    held = {job for _, gpu in reason.gpus if isinstance(gpu, Taken) for job in gpu.jobs}
                    assert held == {floor.holders.get((reason.node, uuid)) for uuid in has} - {None}

    # Commit

    def commit(self) -> None:
        changes = self.state.take_changes()
        for job in changes.new:
            self.disk[job.id] = dict(zip(INSERTED, rows.new_job_row(job), strict=True)) | {"retried": 0, "ooms": 0}
            self.acknowledged[job.id] = self.world.specs[job.id] = job.spec
            self.next_id = max(self.next_id, job.id + 1)
        for job in changes.changed.values():
            self.disk[job.id].update(zip(UPDATED, rows.changed_job_row(job), strict=True))
            if job.id in changes.edited:
                self.disk[job.id].update(zip(EDITED, rows.edited_job_row(job), strict=True))
        for name, drain in changes.node_drains.items():
            self.drains.pop(name, None)
            if drain is not None:
                self.drains[name] = rows.node_drain_text(drain)
        for number, attempt in self._unkept_retries.items():
            self.world.by_hand.setdefault(number, set()).add(attempt)
            self.revivals[number] += 1
            self.stop_asked.discard(number)
        self._unkept_retries.clear()
        self.attempts += [(one.job, one.number) for one in changes.attempts]
        self.stop_asked |= self._unkept_stops
        self._unkept_stops.clear()
        outgoing, self._outgoing = self._outgoing, []
        for link, command in outgoing:
            self._carry_out(link, command)

    def _carry_out(self, link: int, command: Command) -> None:
        node = self.world.nodes[_node(command)]
        if isinstance(command, SignalJob):
            has_reason = command.job in self.stop_asked or self.world.has_cause(command.job, command.attempt)
            assert has_reason, f"nobody asked for {command}"
        if link and link == node.link:
            node.commands.append(command)

    def stored(self, number: int) -> Job:
        row = self.disk[number]
        return rows.job_of(tuple(row[column.strip()] for column in rows.JOB_COLUMNS.split(",")))

    def open_part(self, number: JobId, node: NodeName) -> tuple[JobId, int, NodeName] | None:
        """The attempt that a job has on the node; None if the end of its part there is stored."""
        job = self.state.jobs[number]
        booking = job.status.booking  # type: ignore[union-attr]
        assert booking is not None
        end = None if booking.progress is None else booking.progress.end_of(booking.nodes.index(node))
        return (job.id, job.attempt, node) if end is None else None

    def reload(self) -> State:
        state = State(rules=self.rules)
        live = [self.stored(n) for n, row in self.disk.items() if row["is_live"]]
        state.load(live, next_id=self.next_id, now=self.state.now)
        for name, text in self.drains.items():
            state.load_node(name, rows.node_drain_of(text))
        for name in sorted(self.watch_only):
            state.add_node(name, is_watch_only=True)
        return state

    def crash(self) -> None:
        """Simulate a kill: memory, uncommitted changes and all connections are lost."""
        self._lose_memory()
        self.told = self._told_again()

    def fail_commit(self) -> None:
        """Simulate a full disk: reload the state and reconnect the nodes."""
        known = self.state.nodes
        self._lose_memory()
        for name, node in known.items():
            mine = self.state.node(name)
            mine.gpus, mine.has_reported_gpus, mine.cpu_job_slots = (
                node.gpus,
                node.has_reported_gpus,
                node.cpu_job_slots,
            )
        before = self.told
        self.told = self._told_again()
        for name in known:
            told = self.told.setdefault(name, Told())
            heard = before.get(name, Told())
            told.slots, told.uuids = heard.slots, heard.uuids

    def _told_again(self) -> dict[str, Told]:
        """What the disk and the config file say about nodes."""
        found = {str(name): Told() for name in [*self.drains, *self.watch_only]}
        for name, told in found.items():
            told.is_drained, told.is_watch_only = name in self.drains, name in self.watch_only
        return found

    def _lose_memory(self) -> None:
        self.state = self.reload()
        self._outgoing.clear()
        self._unkept_stops.clear()
        self._unkept_retries.clear()
        for node in self.world.nodes.values():
            self.world.disconnect(node)

    @property
    def is_committed(self) -> bool:
        return not self.state.changes and not self._outgoing

    # Compare with the simulated world

    def compare_end(self, job: Job) -> None:
        """The stored end of a job equals its end in the world."""
        ends = self.world.ends_of(job.id, job.attempt)
        living = [run for run in self.world.runs.values() if run.key[0] == job.id and run.phase != "over"]
        assert not living, f"job {job.id} has ended here, not there: {living}"
        match job.status:
            case Succeeded():
                assert ends == [("exit", 0, None)] * job.spec.request.node_count
            case Failed(reason="launch"):
                assert ("launch", None, None) in ends
            case Failed(reason=reason, exit_code=exit_code, signal=signal):
                assert ("exit", exit_code, signal) in ends
                assert reason == ("exit" if signal is None else "signal")
            case Cancelled(booking=None):
                assert job.id in self.stop_asked, "it waited, perhaps after an attempt"
            case Cancelled(exit_code=exit_code, signal=signal):
                assert not ends or {("exit", exit_code, signal), ("launch", None, None)} & set(ends)
                assert ends or not [key for key in self.world.begun if key[:2] == (job.id, job.attempt)]
                assert job.id in self.stop_asked
            case Unknown():
                assert ("lost", None, None) in ends
            case _:
                raise AssertionError(job.status)
        bad = {kind_of(end) for end in ends} - {"success"}
        if job.id in self.stop_asked:
            assert isinstance(job.status, Cancelled | Unknown)
        elif not bad:
            assert isinstance(job.status, Succeeded)
        elif bad <= set(job.spec.retry_on):
            since = max(self.world.by_hand.get(job.id, ()), default=0)
            assert job.attempt - since > job.spec.retries, f"job {job.id} ended with retries left"
        recorded = [attempt for number, attempt in self.attempts if number == job.id]
        assert recorded == sorted(set(recorded)), "an attempt is recorded twice"
        assert {attempt for number, attempt, _ in self.world.ends if number == job.id} <= set(recorded)

    def compare_living(self) -> None:
        """Every attempt that has or may get a process tree has a booking."""
        for run in self.world.in_phase("launching", "alive", "orphaned"):
            job = self.stored(run.key[0])
            assert not is_ended(job.status)
            assert (run.node, run.gpus) in _start(job)[1]
            assert job.attempt == run.key[1]


def _node(command: Command) -> NodeName:
    return command.place.node if isinstance(command, StartJob) else command.node


def _start(job: Job) -> reference.Start:
    booking = job.status.booking  # type: ignore[union-attr]
    assert booking is not None
    return job.id, tuple((place.node, tuple(gpu.uuid for gpu in place.gpus)) for place in booking.places)
