"""Reports of attempts: started, ended, lost, missing. A final report is stored, then the node may forget it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from tarmac.core import transitions
from tarmac.core.commands import Command, ForgetRun
from tarmac.core.events import JobExited, JobLost, JobStarted, LaunchFailed, TreeGone, is_final
from tarmac.core.handlers import bad_nodes
from tarmac.core.handlers.attempts import parts, pausing, run_outcomes
from tarmac.core.handlers.attempts.attempt_end import status_after
from tarmac.core.handlers.attempts.missing_files import run_elsewhere
from tarmac.core.handlers.attempts.taking_in import job_of
from tarmac.core.handlers.queue.failure_breaker import count_end
from tarmac.core.model.status import (
    Booked,
    MissingPath,
    RunName,
    Starting,
    Unknown,
    state_name,
)
from tarmac.core.story import enter, tell

if TYPE_CHECKING:
    from tarmac.core.events import RunReport
    from tarmac.core.model.attempt import Ended
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.leftovers import Leftovers
    from tarmac.core.state import State


def take_report(state: State, node: NodeName, report: RunReport, now: float) -> list[Command]:
    """Apply a report of an attempt. After a final one the node may forget the attempt."""
    job = job_of(state, node, run_of(report))
    if job is not None and parts.has_parts(job):
        return _take_part_report(state, job, node, report, now)
    commands: list[Command] = []
    if job is not None:
        if not isinstance(report, LaunchFailed) and report.started_at is not None:
            state.note_begin(job, report.started_at)  # also if it is known to run: the clock may have been set since
        before = job.status
        ended = _apply(state, job, report, now)
        if ended is not None:
            commands += count_end(state, job, ended, now)
            commands += bad_nodes.count_end(state, job, ended, now)
        if isinstance(report, JobLost):
            commands += pausing.end_pause_of_lost(job, node, before)
    has_ended = job is not None and job.id != report.job
    if is_final(report) and (has_ended or not _is_still_open(state, report)):
        commands.append(forget(node, report))
    return commands


def _take_part_report(state: State, job: Job, node: NodeName, report: RunReport, now: float) -> list[Command]:
    is_first = isinstance(job.status, Booked) and job.status.booking.node == node
    if is_first and not isinstance(report, LaunchFailed) and report.started_at is not None:
        state.note_begin(job, report.started_at)
    before = job.status
    commands = apply_noted(state, job, parts.note_report(state, job, node, report, now), now)
    if isinstance(report, JobLost):
        commands += pausing.end_pause_of_lost(job, node, before)
    if is_final(report):
        commands.append(forget(node, report))  # its end is stored with the booking
    return commands


def apply_noted(state: State, job: Job, noted: parts.Noted, now: float) -> list[Command]:
    """Apply the report that counts for all parts, if there is one."""
    ended = None if noted.of_all is None else _apply(state, job, noted.of_all, now)
    if ended is None:
        return list(noted.commands)
    return [*noted.commands, *count_end(state, job, ended, now), *bad_nodes.count_end(state, job, ended, now)]


def run_of(report: RunReport) -> RunName:
    return RunName(report.job, report.attempt)


def forget(node: NodeName, report: RunReport) -> ForgetRun:
    return ForgetRun(node=node, job=report.job, attempt=report.attempt)


def _is_still_open(state: State, report: RunReport) -> bool:
    """The outcome is not stored: the report came from the wrong node, or from an attempt newer than our record.

    If the node forgot it, nothing would guard against a second start.
    """
    job = state.jobs.get(report.job)
    if job is None or job.attempt > report.attempt:
        return False
    return job.attempt < report.attempt or isinstance(job.status, Booked)


def _apply(state: State, job: Job, report: RunReport, now: float) -> Ended | None:
    """The end of an attempt that was not stopped; None if it goes on, or was stopped.

    The story says when it happened: a full disk may have delayed the commit for hours.
    """
    cause = type(report).__name__
    if not transitions.is_expected(state_name(job.status), cause):
        return None
    status = job.status
    assert isinstance(status, Booked)
    match report:
        case JobStarted():
            enter(state, job, run_outcomes.started(status, report), cause, now, {"pid": report.pid})
        case JobExited():
            detail = {"exit_code": report.exit_code, "signal": report.signal}
            if report.timed_out:
                detail["timed_out"] = True
            at, (ended, requeue) = min(now, report.ended_at), run_outcomes.exited(status, report)
            if report.warned_at is not None:
                tell(state, job, "EndWarned", min(at, report.warned_at), {"signal": job.spec.warn})
            peak = report.peak_gpu_memory_bytes
            after = status_after(
                state, job, ended, now, requeue=requeue, peak_bytes=peak, is_by_warning=report.is_by_warning
            )
            enter(state, job, after, cause, at, detail)
            _tell_leftovers(state, job, report.leftovers, at)
            return ended if requeue is None else None
        case LaunchFailed():
            return _not_launched(state, job, status, report, now)
        case JobLost():
            lost = run_outcomes.lost(status, report)
            if lost != status:  # a node repeats it whenever it joins
                lose(state, job, lost, cause, min(now, report.at), now, {"processes_left": report.is_alive})
                return None if report.is_alive else lost
        case TreeGone():
            gone = run_outcomes.gone(status, report)
            lose(state, job, gone, cause, min(now, report.at), now, {})
            return gone
        case _:
            assert_never(report)
    return None


def _not_launched(state: State, job: Job, status: Booked, report: LaunchFailed, now: float) -> Ended | None:
    failed, requeue = run_outcomes.not_launched(status, report)
    if isinstance(status, Starting) and report.missing is not None:
        requeue = run_elsewhere(state, job, MissingPath(status.booking.blamed_node, report.missing))
    after = status_after(state, job, failed, now, requeue=requeue)
    enter(state, job, after, type(report).__name__, min(now, report.at), {"message": report.message})
    return failed if requeue is None else None


def lose(state: State, job: Job, lost: Unknown, cause: str, at: float, now: float, more: dict[str, bool]) -> None:
    after = lost if lost.ended_at is None else status_after(state, job, lost, now)
    enter(state, job, after, cause, at, {"message": lost.message, **more})
    _tell_leftovers(state, job, lost.leftovers, at)


def _tell_leftovers(state: State, job: Job, left: Leftovers | None, now: float) -> None:
    if left is not None:
        processes = [{"pid": one.pid, "command": one.command} for one in left.processes]
        tell(state, job, "LeftoversEnded", now, {"count": left.count, "processes": processes})
