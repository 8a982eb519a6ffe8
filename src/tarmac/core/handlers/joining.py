"""A node joins: its reports are applied, and what it may have missed is sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.commands import Command, StartJob
from tarmac.core.events import JobLost, JobStarted, LaunchFailed, Reported, is_final
from tarmac.core.handlers.attempts import parts, pausing
from tarmac.core.handlers.attempts.attempt_end import status_after
from tarmac.core.handlers.attempts.run_commands import adopt_process, stop_signal
from tarmac.core.handlers.attempts.run_outcomes import asked_grace_s, stopped_before_start, unknown
from tarmac.core.handlers.attempts.runs import apply_noted, forget, lose, run_of, take_report
from tarmac.core.handlers.attempts.taking_in import is_crowded_out, is_known, job_of, take_in
from tarmac.core.model.note import note
from tarmac.core.model.status import (
    Booked,
    Queued,
    Running,
    Starting,
    Stopping,
    Unknown,
)
from tarmac.core.story import enter, tell

if TYPE_CHECKING:
    from tarmac.core.events import NodeJoined, RunOrigin
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


def apply_report(state: State, event: Reported | NodeJoined, now: float) -> list[Command]:
    if isinstance(event, Reported):
        return take_report(state, event.node, event.report, now)
    return _join(state, event, now)


def _join(state: State, event: NodeJoined, now: float) -> list[Command]:
    node = state.node(event.node)
    node.is_connected = True
    node.cpu_job_slots = event.cpu_job_slots
    node.cpus, node.memory_total_bytes = event.cpus, event.memory_total_bytes
    state.touch(node)
    before = set(node.host)
    paused = {run_of(report) for report in event.runs if isinstance(report, JobStarted) and report.is_paused}
    reported, commands = _take_runs(state, event, now)
    node.clocks_run_on = {
        run_of(report) for report in event.runs if isinstance(report, JobStarted) and report.clock_runs_on
    }
    taken_in = [state.jobs[number] for number in node.host if number not in before]
    for job in [state.jobs[number] for number in node.host]:
        if job.id in reported:
            commands += _signal_again(job, node.name)
            commands += pausing.repeat(job, node.name, is_paused_there=job.run in paused)
        elif parts.has_parts(job):
            commands += _miss_part(state, job, node.name, taken_in, now)
        else:
            commands += _miss(state, job, taken_in, now)
    return commands


def _take_runs(state: State, event: NodeJoined, now: float) -> tuple[set[JobId], list[Command]]:
    """Apply the reports of a node that joins. Attempts that the database does not know are taken in first.

    Returns the jobs that have one of the attempts.
    """
    origins = {origin.run: origin for origin in event.origins}
    reported: set[JobId] = set()
    commands: list[Command] = []
    for report in event.runs:
        origin, is_over = origins.get(run_of(report)), is_final(report)
        if origin is not None and not is_known(state, event.node, origin):
            if is_over and _is_end_known(state, event, origin):
                commands.append(forget(event.node, report))
                continue
            take_in(state, event, origin, report, now)
        if (job := job_of(state, event.node, run_of(report))) is not None:
            reported.add(job.id)
        commands += take_report(state, event.node, report, now)
    return reported, commands


def _is_end_known(state: State, event: NodeJoined, origin: RunOrigin) -> bool:
    """An earlier attempt of a live job, or of a job whose end is stored."""
    job = state.jobs.get(origin.run.job)
    if job is not None and job.submitted_at == origin.submitted_at:
        return job.attempt >= origin.run.attempt
    return origin.run in event.ended


def _signal_again(job: Job, node: NodeName) -> list[Command]:
    """Repeat a stop signal that the node may have missed."""
    status = job.status
    if not isinstance(status, Booked):
        return []
    if (grace_s := asked_grace_s(status)) is None:
        return parts.signal_again(job, node)
    is_requeued = isinstance(status, Stopping) and status.requeue is not None
    return [stop_signal(job, node, grace_s, is_requeued=is_requeued)]


def _miss(state: State, job: Job, taken_in: list[Job], now: float) -> list[Command]:
    """The node has no record of the attempt. Only one that cannot have begun is sent again."""
    status = job.status
    match status:
        case Starting(booking=booking, adopted_pid=None) if is_crowded_out(job, booking.gpus, taken_in):
            enter(state, job, Queued(since=now), "RunMissing", now, {})
        case Starting(booking=booking, adopted_pid=None):
            enter(state, job, status, "RunMissing", now, {})
            return [StartJob(job=job.id, attempt=job.attempt, booking=booking)]
        case Starting(adopted_pid=int(pid)):
            enter(state, job, status, "RunMissing", now, {})
            return [adopt_process(job, status, pid)]
        case Stopping(started_at=None):
            stopped = stopped_before_start(status, now)
            enter(state, job, status_after(state, job, stopped, now, requeue=status.requeue), "RunMissing", now, {})
        case Running() | Stopping() | Unknown():
            lose(state, job, unknown(status, note("unknown.no_record"), now), "RunMissing", now, now, {})
        case _:
            pass
    return []


def _miss_part(state: State, job: Job, node: NodeName, taken_in: list[Job], now: float) -> list[Command]:
    """The node has no record of its part of the attempt. A part that was not sent yet, or is over, needs none."""
    status = job.status
    assert isinstance(status, Booked)
    booking = status.booking
    is_open, is_crowded = node in booking.open_nodes, is_crowded_out(job, booking.gpus_on(node), taken_in)
    if is_open and (node in booking.started_nodes or isinstance(status, Unknown)):
        message = note("unknown.no_record")
        lost = JobLost(job=job.id, attempt=job.attempt, message=message, is_alive=False, at=now)
        return take_report(state, node, lost, now)
    if is_open and parts.is_ending(job):
        return apply_noted(state, job, parts.note_never(state, job, node, now), now)
    if is_crowded and node == booking.node and is_open:
        enter(state, job, Queued(since=now), "RunMissing", now, {})  # no part has begun
    elif is_crowded and not parts.is_ending(job):
        message = note("failed.crowded_out", node=node)
        return take_report(state, node, LaunchFailed(job=job.id, attempt=job.attempt, message=message, at=now), now)
    elif is_open:
        tell(state, job, "RunMissing", now, {"on": node})
        return [parts.start_again(job, node)]
    return []
