"""The only way to change the state: an event goes in, commands come out.

Order: decide → commit the change and the decision → carry out the commands. This file only decides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from tarmac.core.commands import Notify, StartJob
from tarmac.core.events import (
    GpusDrained,
    GpusForgotten,
    GpusResumed,
    GpusSeen,
    JobEdited,
    JobMoved,
    JobsHeld,
    JobsLabelled,
    JobsPaused,
    JobsReleased,
    JobsResumed,
    JobsRetried,
    JobsSubmitted,
    JobStarted,
    NodeAdded,
    NodeForgotten,
    NodeJoined,
    NodeLeft,
    NodeRemoved,
    NodeSampled,
    NodesDrained,
    NodesResumed,
    OwnersResumed,
    ProcessAdopted,
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
from tarmac.core.handlers import inventory
from tarmac.core.handlers.attempts import pausing, progress, stopping
from tarmac.core.handlers.attempts.run_commands import adopt_process
from tarmac.core.handlers.attempts.taking_in import next_attempt
from tarmac.core.handlers.health import is_fresh, note_reading, watch_gpus, watch_jobs
from tarmac.core.handlers.joining import apply_report
from tarmac.core.handlers.queue import queue_mode, queueing, reservations
from tarmac.core.handlers.queue.dependencies import settle
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.note import note
from tarmac.core.model.status import Booking, Draft, Held, Queued, Starting
from tarmac.core.policy.forced_start import booking_by_force
from tarmac.core.policy.needless_pass import is_needless, turns_before
from tarmac.core.policy.reservations import used_by
from tarmac.core.policy.scheduling_pass import Pass, Preempt
from tarmac.core.story import enter, tell

if TYPE_CHECKING:
    from tarmac.core.commands import Command
    from tarmac.core.events import Event
    from tarmac.core.model.node import Node
    from tarmac.core.state import State


def handle(state: State, event: Event, now: float) -> list[Command]:
    is_set_back, state.now = now < state.now, now
    if is_set_back:
        queueing.turn_back(state, now)
    reserved = len(state.reservations)
    is_due = queueing.pass_time(state, now)
    commands: list[Command] = list(reservations.pass_time(state, now)) if reserved else []
    is_due = is_due or len(state.reservations) < reserved
    turns = None if is_set_back else turns_before(state, event)
    commands += _apply(state, event, now)
    settle(state, now)
    if not is_due and turns is not None and is_needless(state, turns, now):
        state.pass_at = now
    elif is_due or _may_start_something(event):
        commands += _start_what_fits(state, now)
    return commands


def _may_start_something(event: Event) -> bool:
    """A job that reports its start frees nothing, so no pass is needed."""
    return not (isinstance(event, Reported) and isinstance(event.report, JobStarted))


def _apply(state: State, event: Event, now: float) -> list[Command]:
    match event:
        case JobsSubmitted() | JobsHeld() | JobsReleased() | JobsRetried() | JobMoved() | JobEdited() | JobsLabelled():
            queueing.change(state, event, now)
        case QueuePaused() | QueueResumed() | OwnersResumed() | QueueDrained() | ReservationMade() | ReservationEnded():
            queue_mode.change(state, event, now)
        case (
            NodeLeft() | GpusSeen() | GpusDrained() | GpusResumed() | GpusForgotten() | SlotsSet() | RulesSet()
            | NodeAdded() | NodesDrained() | NodesResumed() | NodeRemoved() | NodeForgotten()
        ):  # fmt: skip
            return inventory.change(state, event, now)
        case ProgressSeen():
            progress.note_ends(state, event, now)
        case StopAsked() | QueueStopped() | JobsPaused() | JobsResumed():
            return _steer(state, event, now)
        case StartForced():
            return _start_by_force(state, event, now)
        case ProcessAdopted():
            return _adopt(state, event, now)
        case Reported() | NodeJoined():
            return apply_report(state, event, now)
        case TimePassed() | NodeSampled():
            return _look(state, event, now)
        case _:
            assert_never(event)
    return []


def _steer(state: State, event: StopAsked | QueueStopped | JobsPaused | JobsResumed, now: float) -> list[Command]:
    """Stop, pause or resume jobs that run."""
    if isinstance(event, JobsPaused | JobsResumed):
        return pausing.change(state, event, now)
    return stopping.ask(state, event, now)


def _look(state: State, event: TimePassed | NodeSampled, now: float) -> list[Command]:
    """Act on new readings, or on the time that passed since the last ones."""
    if isinstance(event, NodeSampled):
        node = state.node(event.node)
        note_reading(state, node, now)
        inventory.sample(state, event)
        return _watch(state, node, now)
    read = [node for node in state.nodes.values() if is_fresh(node, now)]
    return [command for node in read for command in _watch(state, node, now)]


def _adopt(state: State, event: ProcessAdopted, now: float) -> list[Command]:
    """Add a job for a process that already runs. The caller guarantees that no other job holds its GPUs."""
    node = state.node(event.node)
    number = JobId(state.next_id)
    spec = replace(event.spec, is_adopted=True)
    job = Job(id=number, spec=spec, submitted_at=now, position=number, attempt=1)
    state.next_id += 1
    state.accept([job])
    taken = [node.gpus[uuid] for uuid in event.gpus]
    gpus = tuple(BookedGpu(uuid=gpu.uuid, index=gpu.index, parent=gpu.parent) for gpu in taken)
    booking = Booking(node=event.node, gpus=gpus)
    detail = {"node": event.node, "gpus": [gpu.index for gpu in gpus], "pid": event.pid}
    starting = Starting(
        booking=booking,
        decided_at=now,
        adopted_pid=event.pid,
        adopted_start_time=event.start_time,
        adopted_uid=event.uid,
    )
    enter(state, job, starting, "ProcessAdopted", now, detail)
    return [adopt_process(job, starting, event.pid)]


def _watch(state: State, node: Node, now: float) -> list[Command]:
    commands: list[Command] = list(watch_gpus(state, node, now))
    for job, (warning, action) in list(watch_jobs(state, node, now)):
        if action == "stop":  # the story shows the stop, which gives the reason
            message = note("notice.job_stopped", job=job.id, warning=warning)
            commands.append(Notify(what="job-warned", message=message, job=job.id))
            commands += stopping.stop(state, StopAsked(job=job.id, by=None, why=warning), now)
            continue
        tell(state, job, "Warned", now, {"message": warning})
        if action == "warn":
            message = note("notice.job_warned", job=job.id, warning=warning)
            commands.append(Notify(what="job-warned", message=message, job=job.id))
    return commands


def _start_by_force(state: State, event: StartForced, now: float) -> list[Command]:
    job = state.jobs.get(event.job)
    if job is None or not isinstance(job.status, Queued | Held | Draft):
        return []
    if any(not after.is_met for after in job.spec.after):  # their outcome no longer matters for it
        met = tuple(replace(after, is_met=True) for after in job.spec.after)
        state.edit(job, replace(job.spec, after=met))
    if job.spec.request.node_count > 1:
        return []  # the caller refuses it
    booking = booking_by_force(state.node(event.node), job, event.gpus)
    return [_start(state, job, booking, "StartForced", now, {"by": event.by})]


def _start_what_fits(state: State, now: float) -> list[Command]:
    """Repeat passes until one leaves nothing to decide: a backfilled start may change whose turn it is."""
    commands: list[Command] = []
    state.pass_at = now
    is_settled = False
    while not is_settled:
        turn = Pass(state, now, stops_when_full=True)
        for decision in turn.run():
            if isinstance(decision, Preempt):
                state.owed.add(decision.for_job.id)
                commands += stopping.preempt(state, decision.job, decision.for_job.id, now)
            else:
                if decision.booking.gpus and not decision.job.spec.after:
                    state.recent_waits_s.append(max(0.0, now - decision.job.waits_since))
                commands.append(_start(state, decision.job, decision.booking, "Decided", now, {}))
        for job in turn.stuck:
            state.stuck_since.setdefault(job, now)
        state.replan_at = turn.replan_at
        is_settled = turn.is_settled
    state.full_pass = turn.full
    if state.owed:
        awaited = {getattr(state.jobs[number].status, "for_job", None) for number in state.stopping}
        state.owed &= awaited  # once the others have stopped, there is one chance
    return commands


def _start(state: State, job: Job, booking: Booking, cause: str, now: float, more: dict[str, str]) -> StartJob:
    job.attempt = next_attempt(state, job)
    for place in booking.places if state.reservations else ():
        for one in used_by(state, job.spec.owner, state.node(place.node), (gpu.uuid for gpu in place.gpus), now):
            state.set_reservation(one.id, replace(one, is_used=True))
    detail: dict[str, Any] = {"node": booking.node, "gpus": [gpu.index for gpu in booking.gpus], **more}
    if booking.others:
        detail["more_nodes"] = [place.node for place in booking.others]
    enter(state, job, Starting(booking=booking, decided_at=now), cause, now, detail)
    return StartJob(job=job.id, attempt=job.attempt, booking=booking)
