"""A simulated world of nodes, run folders and process trees. The core is compared with it.

It knows nothing of the core's state. It mirrors what an agent promises: a run folder guards an attempt against a second
start, the newest report of each attempt is repeated at every hello until it may be forgotten, and hello waits for
attempts that may or may not have begun. A stream keeps its order; frames under way are lost when it breaks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias

from tarmac.core.commands import Command, ForgetRun, PauseJob, SignalJob, StartJob
from tarmac.core.events import (
    Event,
    GpusSeen,
    JobExited,
    JobLost,
    JobStarted,
    LaunchFailed,
    NodeJoined,
    Reported,
    RunReport,
    TreeGone,
)
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import JobSpec
from tests.core.support.builders import numbered_gpus

Key: TypeAlias = tuple[JobId, int, NodeName]  # an attempt may have a part on each of several nodes
End: TypeAlias = tuple[str, int | None, int | None]  # exit, launch or lost; exit code; signal


@dataclass(kw_only=True)
class Run:
    """A run folder and its process tree."""

    key: Key
    node: NodeName
    gpus: tuple[str, ...]
    phase: str = "launching"  # alive; orphaned: its shim was killed; over: no process is left
    report: RunReport | None = None
    started_at: float = 0.0
    is_signalled: bool = False
    is_paused: bool = False


@dataclass(kw_only=True)
class FakeNode:
    name: NodeName
    gpus: tuple[Gpu, ...]
    slots: int
    visible: frozenset[int]  # indices of the GPUs the driver shows
    link: int = 0  # number of the present connection; 0: none
    commands: list[Command] = field(default_factory=list)  # on their way to it
    events: list[Event] = field(default_factory=list)  # on their way from it

    def sight(self) -> GpusSeen:
        return GpusSeen(node=self.name, gpus=tuple(gpu for gpu in self.gpus if gpu.index in self.visible))


def kind_of(end: End) -> str:
    what, exit_code, signal = end
    if what != "exit":
        return what
    return "success" if exit_code == 0 else "exit" if signal is None else "signal"


class World:
    def __init__(self, **nodes: int) -> None:
        """Nodes by name with their number of GPUs, and one CPU slot more than GPUs."""
        self.nodes = {
            NodeName(name): FakeNode(
                name=NodeName(name), gpus=numbered_gpus(gpus, name), slots=gpus + 1, visible=frozenset(range(gpus))
            )
            for name, gpus in nodes.items()
        }
        self.runs: dict[Key, Run] = {}  # existing run folders
        self.begun: set[Key] = set()  # attempts whose command was ever released
        self.ends: dict[Key, End] = {}  # how each ended attempt ended
        self.sent: list[Reported] = []  # every report ever made
        self.specs: dict[int, JobSpec] = {}  # what was acknowledged
        self.by_hand: dict[int, set[int]] = {}  # attempts after which a person retried the job
        self._ticks = count(1)

    # Actions of the controller

    def connect(self, node: FakeNode) -> None:
        assert not [run for run in self.of(node) if run.phase == "launching"], "hello waits for what is not decided"
        runs = tuple(_present(run, run.report) for run in self.of(node) if run.report is not None)
        node.link = next(self._ticks)
        node.events = [NodeJoined(node=node.name, cpu_job_slots=node.slots, runs=runs), node.sight()]

    def disconnect(self, node: FakeNode) -> None:
        node.link = 0
        node.commands, node.events = [], []

    def obey(self, node: FakeNode) -> None:
        """The next command arrives and is carried out."""
        command = node.commands.pop(0)
        match command:
            case StartJob():
                self._start(node, command)
            case SignalJob():
                run = self.runs.get((command.job, command.attempt, node.name))
                if run is not None:
                    run.is_signalled, run.is_paused = True, False
            case PauseJob():
                run = self.runs.get((command.job, command.attempt, node.name))
                if run is not None and not run.is_signalled:
                    run.is_paused = command.is_paused
            case ForgetRun():
                run = self.runs.get((command.job, command.attempt, node.name))
                if run is not None:
                    assert run.phase == "over", f"told to forget {run} which is not over"
                    del self.runs[run.key]

    def _start(self, node: FakeNode, command: StartJob) -> None:
        key = (command.job, command.attempt, node.name)
        run = self.runs.get(key)
        if run is None:
            assert key not in self.begun, f"attempt {key} starts a second time"
            assert self._may_follow(command), f"attempt {key} has no reason to start"
            assert command.place.node == node.name, f"{command} went to {node.name}"
            assert not command.part or self._has_first(command), f"{key} starts before the first part"
            gpus = tuple(gpu.uuid for gpu in command.place.gpus)
            self.runs[key] = Run(key=key, node=node.name, gpus=gpus)
        elif run.report is not None:
            self._send(run.report, run.node)

    def _may_follow(self, command: StartJob) -> bool:
        """No other attempt is under way; the ends of earlier ones were to be retried, or a person retried the job."""
        later = [attempt for job, attempt, _ in self.begun if job == command.job and attempt > command.attempt]
        others = (run for run in self.runs.values() if run.key[0] == command.job and run.key[1] != command.attempt)
        if later or any(run.phase != "over" for run in others):
            return False
        spec, by_hand = self.specs[command.job], self.by_hand.get(command.job, set())
        retries = 0
        for number in range(1, command.attempt):
            kinds = {kind_of(end) for end in self.ends_of(command.job, number)}
            if number in by_hand:
                retries = 0
            elif not kinds & set(spec.retry_on) or retries >= spec.retries:
                return False
            else:
                retries += 1
        return True

    def _has_first(self, command: StartJob) -> bool:
        """The first part has begun, and no part has ended badly as far as its own node knows."""
        return (command.job, command.attempt, command.booking.node) in self.begun

    def ends_of(self, job: int, attempt: int) -> list[End]:
        """How the parts of an attempt ended."""
        return [end for key, end in self.ends.items() if key[:2] == (job, attempt)]

    def has_cause(self, job: int, attempt: int) -> bool:
        """A part of the attempt ended badly or was lost, which is a reason to stop the others."""
        orphans = any(run.key[:2] == (job, attempt) and run.phase == "orphaned" for run in self.runs.values())
        return orphans or any(kind_of(end) != "success" for end in self.ends_of(job, attempt))

    # Spontaneous changes

    def begin(self, run: Run) -> None:
        """Record the start and release the command."""
        assert run.key not in self.begun
        others = [other for other in self.living() if other.node == run.node]
        for other in others:
            both = set(run.gpus) & set(other.gpus)
            assert not both, f"{both} held by {other} and handed to {run}"
        if not run.gpus:
            slots = self.nodes[run.node].slots
            assert len([other for other in others if not other.gpus]) < slots, f"{run} exceeds {slots} slots"
        self.begun.add(run.key)
        run.phase, run.started_at = "alive", float(next(self._ticks))
        job, attempt, _ = run.key
        self._tell(run, JobStarted(job=job, attempt=attempt, pid=1000 + job, started_at=run.started_at))

    def vanish(self, run: Run) -> None:
        """The shim dies before it recorded the start, as if the command had never been sent."""
        assert run.phase == "launching"
        del self.runs[run.key]

    def fail_launch(self, run: Run) -> None:
        job, attempt, _ = run.key
        message = f"no program, {next(self._ticks)}"
        self._end(run, ("launch", None, None), LaunchFailed(job=job, attempt=attempt, message=message, at=1.0))

    def end(self, run: Run, exit_code: int | None, signal: int | None) -> None:
        job, attempt, _ = run.key
        report = JobExited(
            job=job,
            attempt=attempt,
            exit_code=exit_code,
            signal=signal,
            pid=1000 + job,
            started_at=run.started_at,
            ended_at=float(next(self._ticks)),
            was_signalled=run.is_signalled,
        )
        self._end(run, ("exit", exit_code, signal), report)

    def kill_shim(self, run: Run, *, is_alive: bool) -> None:
        job, attempt, _ = run.key
        report = JobLost(job=job, attempt=attempt, message="shim killed", is_alive=is_alive, at=1.0)
        if is_alive:
            run.phase = "orphaned"
            self._tell(run, report)
        else:
            self._end(run, ("lost", None, None), report)

    def lose_tree(self, run: Run) -> None:
        job, attempt, _ = run.key
        self._end(run, ("lost", None, None), TreeGone(job=job, attempt=attempt, at=float(next(self._ticks))))

    def reboot(self, node: FakeNode) -> None:
        self.disconnect(node)
        for run in self.of(node):
            if run.phase == "launching":
                self.vanish(run)
            elif run.phase in {"alive", "orphaned"}:
                self.kill_shim(run, is_alive=False)

    def destroy(self, node: FakeNode, booked: list[Key]) -> None:
        """The machine is gone for good, with its disk. Nobody learns how the attempts ended that are booked there."""
        self.disconnect(node)
        for run in self.of(node):
            del self.runs[run.key]
        self.ends.update((key, ("lost", None, None)) for key in booked)

    def show_gpus(self, node: FakeNode, visible: frozenset[int]) -> None:
        node.visible = visible
        if node.link:
            node.events.append(node.sight())

    # Queries

    def of(self, node: FakeNode) -> list[Run]:
        return [run for run in self.runs.values() if run.node == node.name]

    def living(self) -> list[Run]:
        return [run for run in self.runs.values() if run.phase in {"alive", "orphaned"}]

    def in_phase(self, *phases: str) -> list[Run]:
        return [run for run in self.runs.values() if run.phase in phases]

    def _end(self, run: Run, end: End, report: RunReport) -> None:
        run.phase = "over"
        self.ends[run.key] = end
        self._tell(run, report)

    def _tell(self, run: Run, report: RunReport) -> None:
        run.report = report
        self._send(report, run.node)

    def _send(self, report: RunReport, name: NodeName) -> None:
        said = Reported(node=name, report=report)
        self.sent.append(said)
        if self.nodes[name].link:
            self.nodes[name].events.append(said)


def _present(run: Run, report: RunReport) -> RunReport:
    return replace(report, is_paused=run.is_paused) if isinstance(report, JobStarted) else report
