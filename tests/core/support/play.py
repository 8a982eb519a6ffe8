"""Applies random events to a state and returns their effects. Nodes carry out commands at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

from tarmac.core.changes import StoryLine
from tarmac.core.commands import Command
from tarmac.core.events import (
    Event,
    GpusDrained,
    GpusResumed,
    JobEdited,
    JobExited,
    JobMoved,
    JobsHeld,
    JobsLabelled,
    JobsPaused,
    JobsReleased,
    JobsResumed,
    JobsRetried,
    JobsSubmitted,
    JobStarted,
    NodeJoined,
    NodeLeft,
    OwnersResumed,
    ProgressSeen,
    QueueDrained,
    QueuePaused,
    QueueResumed,
    QueueStopped,
    Reported,
    ReservationEnded,
    ReservationMade,
    RulesSet,
    SlotsSet,
    StartForced,
    StopAsked,
    TimePassed,
)
from tarmac.core.handlers.queue.reservations import chosen_gpus
from tarmac.core.invariants import invariants
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.node import Node
from tarmac.core.model.plan import EndByProgress
from tarmac.core.model.queue import Reservation
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Booked, Draft, Held, Queued, Running, Starting, Stopping, holds_booking, is_ended
from tarmac.core.policy.forced_start import double_booked, plan
from tarmac.core.state import State
from tests.core.support.loads import one_of, specs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.job import JobSpec

Step: TypeAlias = tuple[str, int, Any]

WORDS = (
    "begin", "begin", "end", "end", "end", "fail", "stop", "hold", "release", "move", "edit", "edit", "label", "pause",
    "resume", "drain", "halt", "freeze", "thaw", "drain GPU", "resume GPU", "slots", "force", "reserve", "give back",
    "leave", "join", "wait", "progress", "oom", "again", "let go on",
)  # fmt: skip


def steps(spec: st.SearchStrategy[JobSpec] | None = None, *, most: int = 25) -> st.SearchStrategy[list[Step]]:
    spec = specs() if spec is None else spec
    submits = st.tuples(
        st.just("submit"),
        one_of,
        st.tuples(st.lists(spec, min_size=1, max_size=4), st.sampled_from(["queued", "queued", "held", "draft"])),
    )
    others = st.tuples(st.sampled_from(WORDS), one_of, st.sampled_from([0.0, 1.0, 4.0, 30.0]))
    return st.lists(st.one_of(submits, others, others), min_size=3, max_size=most)


class Play:
    def __init__(self, nodes: list[Node], rules: Rules) -> None:
        self.state = State(rules=rules)
        self.state.nodes.update((node.name, node) for node in nodes)
        self.now = 1000.0
        self.ended: dict[JobId, Job] = {}
        self.forced: set[tuple[JobId, int]] = set()  # attempts started by force

    def take(self, step: Step) -> list[StoryLine]:
        """The story lines of the step. A step may have no effect."""
        word, number, more = step
        told: list[StoryLine] = []
        self.now += 1.0
        for event in self._events(word, number, more):
            told += self.happen(event)
        return told

    def happen(self, event: Event) -> list[StoryLine]:
        self.said: list[Command] = handle(self.state, event, self.now)
        changes = self.state.take_changes()
        told = changes.story
        self.ended.update((number, job) for number, job in changes.changed.items() if is_ended(job.status))
        assert invariants.violations(self.state) == []
        return told

    def _events(self, word: str, number: int, more: Any) -> Iterator[Event]:
        if word == "submit":
            most = more[0][0].max_running  # one for the whole array
            array = tuple(replace(spec, max_running=most) for spec in more[0])
            yield JobsSubmitted(specs=array, entry=more[1], by="ann", is_group=number % 2 == 0)
        elif word in {"begin", "end", "fail", "oom"}:
            yield from self._report(word, number)
        elif word in {"stop", "hold", "release", "move", "edit", "label", "force", "freeze", "thaw"}:
            if self.state.jobs:
                yield from self._touch(word, pick(list(self.state.jobs.values()), number), number)
        elif word in {"drain GPU", "resume GPU", "slots", "leave", "join"}:
            yield self._tend(word, number)
        elif word in {"reserve", "give back"}:
            yield from self._reserve(word, number, more)
        elif word == "progress":
            yield self._progress(number, more)
        elif word == "again":
            yield from self._retry(number)
        elif word == "let go on":
            yield OwnersResumed(owners=tuple(self.state.suspended), by="root")
        else:
            yield from self._steer(word, more)

    def _report(self, word: str, number: int) -> Iterator[Event]:
        kinds = (Starting,) if word == "begin" else (Running, Stopping)
        jobs = [job for job in self.state.jobs.values() if isinstance(job.status, kinds)]
        if jobs:
            job = pick(jobs, number)
            for name in job.status.booking.nodes:
                if not isinstance(job.status, Booked):
                    return  # another part ended the job
                yield report(
                    job,
                    "start" if word == "begin" else "exit",
                    self.now,
                    exit_code=int(word != "end"),
                    is_oom=word == "oom",
                    node=name,
                )

    def _retry(self, number: int) -> Iterator[Event]:
        """A person retries a job that has ended, or one that waits between two attempts."""
        waiting = tuple(job.id for job in self.waiting if getattr(job.status, "retry_at", None) is not None)
        over = [job for job in self.ended.values() if job.id not in self.state.jobs]
        yield JobsRetried(by="ann", jobs=(pick(over, number),) if over else (), waiting=waiting)

    def _touch(self, word: str, job: Job, number: int) -> Iterator[Event]:
        if word == "stop":
            yield StopAsked(job=job.id, by="ann")
        elif word == "hold":
            yield JobsHeld(jobs=(job.id,), by="ann")
        elif word == "release":
            yield JobsReleased(jobs=tuple(self.state.jobs), by="ann")
        elif word == "move":
            yield JobMoved(job=job.id, place=1 + number % 3, by="ann")
        elif word == "freeze":
            yield JobsPaused(jobs=(job.id,), by="ann", is_counted=number % 3 == 0)
        elif word == "thaw":
            yield JobsResumed(jobs=tuple(self.state.jobs), by="ann")
        elif word == "edit":
            other = pick(list(self.state.jobs.values()), number // 2)
            more = () if other is job else ((other.id, self._edited(other, number + 1)),)
            yield JobEdited(job=job.id, spec=self._edited(job, number), by="ann", more=more)
        elif word == "label":
            labelled = pick([job, *self.ended.values()], number)
            live = self.state.jobs.get(labelled.id, labelled)
            yield JobsLabelled(jobs=(replace(live, spec=replace(live.spec, name=f"n{number % 3}")),), by="ann")
        else:
            yield from self._force(job)

    def _edited(self, job: Job, number: int) -> JobSpec:
        """Another priority, or everything that another job asks for: its class changes."""
        if number % 3 == 0:
            return replace(job.spec, priority=number % 20)
        other = pick(list(self.state.jobs.values()), number // 3).spec
        return replace(
            job.spec,
            request=other.request,
            time_limit_s=other.time_limit_s,
            tier=other.tier,
            project=other.project,
            begin_at=other.begin_at,
            name=other.name,
            stdout=other.stdout,
        )

    def _force(self, job: Job) -> Iterator[Event]:
        if job.spec.request.node_count > 1:
            return
        booking = plan(self.state, job) if isinstance(job.status, Queued | Held | Draft) else None
        if booking is not None and not list(double_booked(self.state, booking)):
            self.forced.add((job.id, job.attempt + 1))
            yield StartForced(job=job.id, node=booking.node, gpus=tuple(gpu.uuid for gpu in booking.gpus), by="root")

    def _progress(self, number: int, left_s: float) -> Event:
        """Some jobs print a bar. It may be a false one, or show that the job should be over."""
        jobs = [job for job in self.state.jobs.values() if (job.id + number) % 3]
        return ProgressSeen(ends=tuple(EndByProgress(job.id, job.attempt, self.now + left_s) for job in jobs))

    def _tend(self, word: str, number: int) -> Event:
        node = pick(list(self.state.nodes.values()), number)
        gpu = (pick(list(node.gpus), number // 7),)
        if word == "drain GPU":
            return GpusDrained(node=node.name, gpus=gpu, by="root", reason="hot")
        if word == "resume GPU":
            return GpusResumed(node=node.name, gpus=gpu)
        if word == "slots":
            return SlotsSet(node=node.name, gpus=gpu, slots=1 + number % 2)
        if word == "leave":
            return NodeLeft(node=node.name)
        runs = tuple(self._runs_on(node))
        return NodeJoined(
            node=node.name,
            cpu_job_slots=node.cpu_job_slots,
            runs=runs,
            cpus=node.cpus,
            memory_total_bytes=node.memory_total_bytes,
        )

    def _runs_on(self, node: Node) -> Iterator[JobStarted]:
        for job in (self.state.jobs[number] for number in node.host):
            if isinstance(job.status, Running | Stopping) and node.name in job.status.booking.started_nodes:
                at = self.now if job.status.started_at is None else job.status.started_at
                yield JobStarted(job=job.id, attempt=job.attempt, pid=41, started_at=at)

    def _reserve(self, word: str, number: int, more: float) -> Iterator[Event]:
        if word == "give back":
            if self.state.reservations:
                yield ReservationEnded(reservation=pick(list(self.state.reservations), number), by="root")
            return
        begins_at = self.now + more
        ends_at = begins_at + 25.0
        found = chosen_gpus(self.state, gpus=1 + number % 2, owner="bob", begins_at=begins_at, ends_at=ends_at)
        if found is not None:
            one = Reservation(
                id=self.state.next_reservation, owner="bob", node=found[0], gpus=found[1], begins_at=begins_at,
                ends_at=ends_at, by="root",
            )  # fmt: skip
            yield ReservationMade(reservation=one)

    def _steer(self, word: str, seconds: float) -> Iterator[Event]:
        if word == "pause":
            yield QueuePaused(by="root")
        elif word == "resume":
            yield QueueResumed(by="root")
        elif word == "drain":
            yield QueueDrained(by="root")
        elif word == "halt":
            yield QueueStopped(by="root")
        else:
            self.now += seconds
            yield TimePassed()

    def set_rules(self, rules: Rules) -> list[StoryLine]:
        return self.happen(RulesSet(rules=rules))

    @property
    def booked(self) -> list[Job]:
        return [job for job in self.state.jobs.values() if holds_booking(job.status) is not None]

    @property
    def waiting(self) -> list[Job]:
        return [job for job in self.state.jobs.values() if isinstance(job.status, Queued | Held | Draft)]


def report(
    job: Job, word: str, now: float, *, exit_code: int = 0, is_oom: bool = False, node: NodeName | None = None
) -> Reported:
    """The node reports its start or its end."""
    status = job.status
    assert isinstance(status, Booked)
    node, number, attempt = node or status.booking.node, job.id, job.attempt
    if word == "start":
        return Reported(node=node, report=JobStarted(job=number, attempt=attempt, pid=41, started_at=now))
    began = now if isinstance(status, Starting) or status.started_at is None else status.started_at
    ended = JobExited(
        job=number,
        attempt=attempt,
        exit_code=exit_code,
        signal=None,
        pid=41,
        started_at=began,
        ended_at=now,
        was_signalled=isinstance(status, Stopping),
        oom="gpu" if is_oom else None,
    )
    return Reported(node=node, report=ended)


def pick(those: list[Any], number: int) -> Any:
    return those[number % len(those)]
