"""The one door into the state: an event goes in, the state changes, commands come out.

Order: decide → commit the change and the decision → carry out the commands. Nothing here knows of the last two.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from tarmac.core import cards, transitions
from tarmac.core.commands import AdoptProcess, Command, ForgetRun, Notify, SignalJob, StartJob
from tarmac.core.events import (
    Event,
    GpusDrained,
    GpusForgotten,
    GpusResumed,
    GpusSeen,
    JobExited,
    JobLost,
    JobsSubmitted,
    JobStarted,
    LaunchFailed,
    NodeJoined,
    NodeLeft,
    NodeSampled,
    ProcessAdopted,
    Reported,
    RulesSet,
    RunReport,
    SlotsSet,
    StopAsked,
    TimePassed,
    TreeGone,
)
from tarmac.core.model import (
    Booked,
    BookedGpu,
    Booking,
    Cancelled,
    Failed,
    Job,
    JobId,
    Node,
    NodeName,
    Queued,
    Running,
    Starting,
    Stopping,
    Succeeded,
    Unknown,
    state_name,
)
from tarmac.core.policy import decisions
from tarmac.core.state import StoryLine
from tarmac.core.watching import is_fresh, note_reading, watch_cards, watch_jobs

if TYPE_CHECKING:
    from tarmac.core.model import Status
    from tarmac.core.state import State


def handle(state: State, event: Event, now: float) -> list[Command]:
    commands = _apply(state, event, now)
    commands += _start_what_fits(state, now)
    return commands


def _apply(state: State, event: Event, now: float) -> list[Command]:
    match event:
        case JobsSubmitted():
            return _submit(state, event, now)
        case StopAsked():
            return _stop(state, event, now)
        case Reported():
            return _report(state, event.node, event.report, now)
        case NodeJoined():
            return _join(state, event, now)
        case ProcessAdopted():
            return _adopt(state, event, now)
        case TimePassed():
            read = [node for node in state.nodes.values() if is_fresh(node, now)]
            return [command for node in read for command in _watch(state, node, now)]
        case NodeSampled():
            note_reading(state, state.node(event.node), now)
            cards.sample(state, event)
            return _watch(state, state.node(event.node), now)
        case NodeLeft() | GpusSeen() | GpusDrained() | GpusResumed() | GpusForgotten() | SlotsSet() | RulesSet():
            cards.change(state, event, now)
            return []
        case _:
            assert_never(event)


def _submit(state: State, event: JobsSubmitted, now: float) -> list[Command]:
    first = state.next_id
    jobs = [
        Job(id=JobId(number), spec=spec, submitted_at=now, position=number)
        for number, spec in enumerate(event.specs, first)
    ]
    state.next_id = first + len(jobs)
    state.jobs.update((job.id, job) for job in jobs)
    state.queue.add_many(jobs)
    state.changes.new += jobs
    return []


def _adopt(state: State, event: ProcessAdopted, now: float) -> list[Command]:
    """A job that is at work already. Whoever asks made sure that nobody else has its cards."""
    node = state.node(event.node)
    job = Job(id=JobId(state.next_id), spec=event.spec, submitted_at=now, position=state.next_id, attempt=1)
    state.next_id += 1
    state.jobs[job.id] = job
    state.queue.add_many([job])
    state.changes.new.append(job)
    taken = [node.gpus[uuid] for uuid in event.gpus]
    gpus = tuple(BookedGpu(uuid=card.uuid, index=card.index, parent=card.parent) for card in taken)
    booking = Booking(node=event.node, gpus=gpus)
    detail = {"node": event.node, "gpus": [gpu.index for gpu in gpus], "pid": event.pid}
    _enter(state, job, Starting(booking=booking, decided_at=now, adopted_pid=event.pid), "ProcessAdopted", now, detail)
    return [AdoptProcess(node=event.node, job=job.id, attempt=1, pid=event.pid)]


def _watch(state: State, node: Node, now: float) -> list[Command]:
    commands: list[Command] = list(watch_cards(state, node, now))
    for job, told, action in list(watch_jobs(state, node, now)):
        if action == "stop":  # its line in the story is that of the stop, which says why
            commands.append(Notify(what="job-warned", message=f"job {job.id} is stopped: {told}", job=job.id))
            commands += _stop(state, StopAsked(job=job.id, by=f"tarmac: stopped, as {told}"), now)
            continue
        line = StoryLine(job=job.id, attempt=job.attempt, at=now, kind="Warned", detail={"message": told})
        state.changes.story.append(line)
        state.changes.changed[job.id] = job
        if action == "warn":
            commands.append(Notify(what="job-warned", message=f"job {job.id}: {told}", job=job.id))
    return commands


def _stop(state: State, event: StopAsked, now: float) -> list[Command]:
    job = state.jobs.get(event.job)
    if job is None:
        return []
    grace_s = job.spec.grace_s if event.grace_s is None else event.grace_s
    detail = {"by": event.by, "grace_s": grace_s}
    status: Stopping | Unknown
    match job.status:
        case Queued():
            _enter(state, job, _cancelled(job.status, now), "StopAsked", now, detail)
            return []
        case Starting(booking=booking):
            status = Stopping(booking=booking, pid=None, started_at=None, asked_at=now, grace_s=grace_s)
        case Running(booking=booking, pid=pid, started_at=started_at):
            status = Stopping(booking=booking, pid=pid, started_at=started_at, asked_at=now, grace_s=grace_s)
        case Stopping():
            status = replace(job.status, grace_s=min(grace_s, job.status.grace_s))
        case Unknown():
            status = replace(job.status, stop_grace_s=grace_s)
        case _:
            return []
    _enter(state, job, status, "StopAsked", now, detail)
    return [SignalJob(node=status.booking.node, job=job.id, attempt=job.attempt, grace_s=grace_s)]


def _cancelled(status: Queued | Stopping, ended_at: float) -> Cancelled:
    """Ended by a person before anything of it ran."""
    booking = status.booking if isinstance(status, Stopping) else None
    return Cancelled(booking=booking, pid=None, started_at=None, ended_at=ended_at)


def _report(state: State, node: NodeName, report: RunReport, now: float) -> list[Command]:
    """Take in what a node says of a run. Whatever is final there may then be forgotten there."""
    job = state.jobs.get(report.job)
    if job is not None and job.attempt == report.attempt and _is_on(job, node):
        _take_in(state, job, report, now)
    if not is_final(report) or _is_still_open(state, report):
        return []
    return [ForgetRun(node=node, job=report.job, attempt=report.attempt)]


def _is_still_open(state: State, report: RunReport) -> bool:
    """The outcome is not kept here: it came from a node that should not know it, or from ahead of our record.

    Forgetting it there would take away the guard against a second start.
    """
    job = state.jobs.get(report.job)
    return job is not None and job.attempt <= report.attempt


def is_final(report: RunReport) -> bool:
    match report:
        case JobExited() | LaunchFailed() | TreeGone():
            return True
        case JobLost(is_alive=is_alive):
            return not is_alive
        case JobStarted():
            return False
        case _:
            assert_never(report)


def _is_on(job: Job, node: NodeName) -> bool:
    return isinstance(job.status, Booked) and job.status.booking.node == node


def _take_in(state: State, job: Job, report: RunReport, now: float) -> None:
    cause = type(report).__name__
    if not transitions.is_expected(state_name(job.status), cause):
        return
    status = job.status
    assert isinstance(status, Booked)
    match report:
        case JobStarted():
            _enter(state, job, _started(status, report), cause, now, {"pid": report.pid})
        case JobExited():
            detail = {"exit_code": report.exit_code, "signal": report.signal}
            _enter(state, job, _exited(status, report), cause, now, detail)
        case LaunchFailed():
            _enter(state, job, _not_launched(status, report), cause, now, {"message": report.message})
        case JobLost():
            lost = _unknown(status, report.message, None if report.is_alive else report.at)
            if lost != status:  # the node says it again whenever it joins
                told = {"message": report.message, "processes_left": report.is_alive}
                _enter(state, job, lost, cause, now, told)
        case TreeGone():
            _enter(state, job, _gone(status, report), cause, now, {})
        case _:
            assert_never(report)


def _started(status: Booked, report: JobStarted) -> Running | Stopping:
    if isinstance(status, Stopping):
        return replace(status, pid=report.pid, started_at=report.started_at)
    return Running(booking=status.booking, pid=report.pid, started_at=report.started_at)


def _exited(status: Booked, report: JobExited) -> Status:
    if isinstance(status, Stopping):
        return Cancelled(
            booking=status.booking,
            pid=report.pid,
            started_at=report.started_at,
            ended_at=report.ended_at,
            exit_code=report.exit_code,
            signal=report.signal,
        )
    if report.exit_code is None and report.signal is None:
        return _unknown(status, "it ended; how, only whoever started it was told", report.ended_at)
    if report.exit_code == 0:
        return Succeeded(booking=status.booking, pid=report.pid, started_at=report.started_at, ended_at=report.ended_at)
    return Failed(
        booking=status.booking,
        pid=report.pid,
        started_at=report.started_at,
        ended_at=report.ended_at,
        reason="exit" if report.signal is None else "signal",
        exit_code=report.exit_code,
        signal=report.signal,
    )


def _not_launched(status: Booked, report: LaunchFailed) -> Status:
    if isinstance(status, Stopping):
        return _cancelled(status, report.at)
    return Failed(
        booking=status.booking, pid=None, started_at=None, ended_at=report.at, reason="launch", message=report.message
    )


def _unknown(status: Booked, message: str, ended_at: float | None) -> Unknown:
    pid, started_at = (None, None) if isinstance(status, Starting) else (status.pid, status.started_at)
    return Unknown(
        booking=status.booking,
        pid=pid,
        started_at=started_at,
        ended_at=ended_at,
        message=message,
        stop_grace_s=_asked_grace_s(status),
    )


def _asked_grace_s(status: Booked) -> float | None:
    """How long its owner gave it to stop; None while nobody wants it to."""
    match status:
        case Stopping():
            return status.grace_s
        case Unknown():
            return status.stop_grace_s
        case Starting() | Running():
            return None
        case _:
            assert_never(status)


def _gone(status: Booked, report: TreeGone) -> Unknown:
    if isinstance(status, Unknown):
        return replace(status, ended_at=report.at)
    # The node tells the newest only: that the shim was killed was said while nobody listened.
    return _unknown(status, "its shim was killed, so how it ended cannot be known", report.at)


def _join(state: State, event: NodeJoined, now: float) -> list[Command]:
    node = state.node(event.node)
    node.is_connected = True
    node.cpu_job_slots = event.cpu_job_slots
    node.cpus, node.memory_total_bytes = event.cpus, event.memory_total_bytes
    commands = [command for report in event.runs for command in _report(state, event.node, report, now)]
    reported = {(report.job, report.attempt) for report in event.runs}
    for job in [job for job in state.jobs.values() if _is_on(job, event.node)]:
        if (job.id, job.attempt) in reported:
            commands += _signal_again(job)
        else:
            commands += _miss(state, job, now)
    return commands


def _signal_again(job: Job) -> list[Command]:
    """The node may never have heard that the job should stop."""
    status = job.status
    if not isinstance(status, Booked) or (grace_s := _asked_grace_s(status)) is None:
        return []
    return [SignalJob(node=status.booking.node, job=job.id, attempt=job.attempt, grace_s=grace_s)]


def _miss(state: State, job: Job, now: float) -> list[Command]:
    """The node has no trace of the run. Only one that cannot have begun may be sent again."""
    status = job.status
    match status:
        case Starting(booking=booking, adopted_pid=None):
            _enter(state, job, status, "RunMissing", now, {})
            return [StartJob(job=job.id, attempt=job.attempt, booking=booking)]
        case Starting(booking=booking, adopted_pid=int(pid)):
            _enter(state, job, status, "RunMissing", now, {})
            return [AdoptProcess(node=booking.node, job=job.id, attempt=job.attempt, pid=pid)]
        case Stopping(started_at=None):
            _enter(state, job, _cancelled(status, now), "RunMissing", now, {})
        case Running() | Stopping() | Unknown():
            message = "the node has no trace of this run any more"
            _enter(state, job, _unknown(status, message, now), "RunMissing", now, {"message": message})
        case _:
            pass
    return []


def _start_what_fits(state: State, now: float) -> list[Command]:
    commands: list[Command] = []
    for job, booking in decisions(state):
        job.attempt += 1
        detail = {"node": booking.node, "gpus": [gpu.index for gpu in booking.gpus]}
        _enter(state, job, Starting(booking=booking, decided_at=now), "Decided", now, detail)
        commands.append(StartJob(job=job.id, attempt=job.attempt, booking=booking))
    return commands


def _enter(state: State, job: Job, status: Status, cause: str, now: float, detail: dict[str, Any]) -> None:
    transitions.check(state_name(job.status), cause, state_name(status), job.id)
    state.enter(job, status)
    line = StoryLine(job=job.id, attempt=job.attempt, at=now, kind=cause, detail=detail)
    state.changes.story.append(line)
