"""The one door into the state: an event goes in, the state changes, commands come out.

Order: decide → commit the change and the decision → carry out the commands. Nothing here knows of the last two.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from tarmac.core import cards, reserve, runs, stopping, waiting
from tarmac.core.commands import AdoptProcess, Notify, StartJob
from tarmac.core.events import (
    GpusDrained,
    GpusResumed,
    GpusSeen,
    JobEdited,
    JobMoved,
    JobsHeld,
    JobsReleased,
    JobsSubmitted,
    JobStarted,
    NodeJoined,
    NodeLeft,
    NodeSampled,
    ProcessAdopted,
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
from tarmac.core.model import BookedGpu, Booking, Draft, Held, Job, JobId, Mode, Queued, Starting
from tarmac.core.policy import Evict, decisions
from tarmac.core.policy.forced import booking_by_force
from tarmac.core.policy.reserved import used_by
from tarmac.core.story import enter, tell
from tarmac.core.watching import watch_cards, watch_jobs

if TYPE_CHECKING:
    from tarmac.core.commands import Command
    from tarmac.core.events import Event
    from tarmac.core.model import Node
    from tarmac.core.state import State


def handle(state: State, event: Event, now: float) -> list[Command]:
    state.now = now
    waiting.pass_time(state, now)
    commands: list[Command] = list(reserve.pass_time(state, now)) if state.reservations else []
    commands += _apply(state, event, now)
    waiting.settle(state, now)
    if _may_start_something(event):
        commands += _start_what_fits(state, now)
    return commands


def _may_start_something(event: Event) -> bool:
    """That a job which has its cards is at work now makes room for nobody."""
    return not (isinstance(event, Reported) and isinstance(event.report, JobStarted))


def _apply(state: State, event: Event, now: float) -> list[Command]:
    match event:
        case JobsSubmitted():
            waiting.submit(state, event, now)
        case JobsHeld():
            waiting.hold(state, event, now)
        case JobsReleased():
            waiting.release(state, event, now)
        case JobMoved():
            waiting.move(state, event, now)
        case JobEdited():
            waiting.edit(state, event, now)
        case StartForced():
            return _start_by_force(state, event, now)
        case StopAsked():
            return stopping.stop(state, event, now)
        case QueueStopped():
            return stopping.stop_all(state, event, now)
        case QueuePaused() | QueueResumed() | QueueDrained():
            _set_mode(state, event, now)
        case ReservationMade(reservation=reservation):
            state.set_reservation(reservation.id, reservation)
            state.next_reservation = max(state.next_reservation, reservation.id + 1)
        case ReservationEnded(reservation=number):
            state.set_reservation(number, None)
        case Reported():
            return runs.take_report(state, event.node, event.report, now)
        case NodeJoined():
            return runs.join(state, event, now)
        case ProcessAdopted():
            return _adopt(state, event, now)
        case TimePassed():
            return [command for node in state.nodes.values() for command in _watch(state, node, now)]
        case NodeSampled():
            cards.sample(state, event)
            return _watch(state, state.node(event.node), now)
        case NodeLeft() | GpusSeen() | GpusDrained() | GpusResumed() | SlotsSet() | RulesSet():
            cards.change(state, event, now)
        case _:
            assert_never(event)
    return []


def _set_mode(state: State, event: QueuePaused | QueueResumed | QueueDrained, now: float) -> None:
    match event:
        case QueuePaused():
            mode = replace(state.mode, is_paused=True, by=event.by, reason=event.reason, since=now)
        case QueueDrained():
            mode = replace(state.mode, is_draining=True, by=event.by, reason=event.reason, since=now)
        case QueueResumed():
            mode = Mode()
            state.failures.clear()
    state.set_mode(mode)


def _adopt(state: State, event: ProcessAdopted, now: float) -> list[Command]:
    """A job that is at work already. Whoever asks made sure that nobody else has its cards."""
    node = state.node(event.node)
    number = JobId(state.next_id)
    spec = replace(event.spec, is_adopted=True)
    job = Job(id=number, spec=spec, submitted_at=now, position=number, attempt=1)
    state.next_id += 1
    state.accept([job])
    gpus = tuple(BookedGpu(uuid=uuid, index=node.gpus[uuid].index) for uuid in event.gpus)
    booking = Booking(node=event.node, gpus=gpus)
    detail = {"node": event.node, "gpus": [gpu.index for gpu in gpus], "pid": event.pid}
    enter(state, job, Starting(booking=booking, decided_at=now, adopted_pid=event.pid), "ProcessAdopted", now, detail)
    return [AdoptProcess(node=event.node, job=job.id, attempt=1, pid=event.pid)]


def _watch(state: State, node: Node, now: float) -> list[Command]:
    commands: list[Command] = list(watch_cards(state, node, now))
    for job, told, action in list(watch_jobs(state, node, now)):
        tell(state, job, "Warned", now, {"message": told})
        if action != "none":
            commands.append(Notify(what="job-warned", message=f"job {job.id}: {told}", job=job.id))
        if action == "stop":
            commands += stopping.stop(state, StopAsked(job=job.id, by=f"tarmac: {told}"), now)
    return commands


def _start_by_force(state: State, event: StartForced, now: float) -> list[Command]:
    job = state.jobs.get(event.job)
    if job is None or not isinstance(job.status, Queued | Held | Draft):
        return []
    booking = booking_by_force(state.node(event.node), job, event.gpus)
    return [_start(state, job, booking, "StartForced", now, {"by": event.by})]


def _start_what_fits(state: State, now: float) -> list[Command]:
    commands: list[Command] = []
    for decision in decisions(state, now):
        if isinstance(decision, Evict):
            why = f"made room for job {decision.for_job.id}"
            commands += stopping.send_back(state, decision.job, "Preempted", why, now)
        else:
            commands.append(_start(state, decision.job, decision.booking, "Decided", now, {}))
    return commands


def _start(state: State, job: Job, booking: Booking, cause: str, now: float, more: dict[str, str]) -> StartJob:
    job.attempt += 1
    for one in used_by(state, job.spec.owner, state.node(booking.node), (gpu.uuid for gpu in booking.gpus), now):
        state.set_reservation(one.id, replace(one, is_used=True))
    detail = {"node": booking.node, "gpus": [gpu.index for gpu in booking.gpus], **more}
    enter(state, job, Starting(booking=booking, decided_at=now), cause, now, detail)
    return StartJob(job=job.id, attempt=job.attempt, booking=booking)
