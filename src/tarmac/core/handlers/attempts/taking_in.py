"""Attempts that a node runs and the database does not know: it was replaced, restored from a backup, or cut short.

Such an attempt keeps its GPUs as an `unknown` job, before anything else starts on the node. A job is identified by its
id and the time of its submit, so a job of this database is never mistaken for one of another database.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.events import JobStarted, is_final
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.note import note
from tarmac.core.model.status import Booked, Booking, RunName, Unknown
from tarmac.core.story import enter

if TYPE_CHECKING:
    from tarmac.core.events import NodeJoined, RunOrigin, RunReport
    from tarmac.core.model.gpu import BookedGpu
    from tarmac.core.model.ids import NodeName
    from tarmac.core.state import State


def job_of(state: State, node: NodeName, run: RunName) -> Job | None:
    """The live job that has this attempt of the node."""
    renamed = state.renamed.get((node, run))
    job = state.jobs.get(run.job if renamed is None else renamed)
    is_there = job is not None and isinstance(job.status, Booked) and node in job.status.booking.held_nodes
    return job if is_there and job is not None and job.run == run else None


def is_known(state: State, node: NodeName, origin: RunOrigin) -> bool:
    job = job_of(state, node, origin.run)
    return job is not None and job.submitted_at == origin.submitted_at


def next_attempt(state: State, job: Job) -> int:
    """The number of the job's next attempt. Other jobs may have attempts on nodes under names with this job's id."""
    others = (run.attempt for _, run in state.renamed if run.job == job.id)
    return max(job.attempt, *others, 0) + 1 if state.renamed else job.attempt + 1


def take_in(state: State, event: NodeJoined, origin: RunOrigin, report: RunReport, now: float) -> None:
    """Book the attempt's GPUs for a job, which is unknown from now on. The caller then applies the node's report."""
    job = state.jobs.get(origin.run.job)
    if job is None or not _is_continued(job, event, origin, is_over=is_final(report)):
        if job is not None:
            _avoid_name(state, job, origin.run)
        job = _new_job(state, event, origin)
    job.attempt = max(job.attempt, origin.run.attempt)
    name = RunName(job.id, job.attempt)
    booking = Booking(node=event.node, gpus=origin.gpus, run=None if name == origin.run else origin.run)
    message = note("unknown.taken_in", node=event.node)
    pid, started_at = (report.pid, report.started_at) if isinstance(report, JobStarted) else (None, None)
    unknown = Unknown(booking=booking, pid=pid, started_at=started_at, ended_at=None, message=message)
    detail = {"node": event.node, "gpus": [gpu.index for gpu in origin.gpus], "message": message}
    enter(state, job, unknown, "TakenIn", now, detail)


def _is_continued(job: Job, event: NodeJoined, origin: RunOrigin, *, is_over: bool) -> bool:
    """Is it an attempt of this job, from a time that the database has forgotten?"""
    if job.submitted_at != origin.submitted_at:
        return False
    is_newer = origin.run.attempt > job.attempt
    if not isinstance(job.status, Booked):
        return is_newer or not is_over
    has_current = any(job.run == RunName(report.job, report.attempt) for report in event.runs)
    booking = job.status.booking
    return is_newer and booking.nodes == (event.node,) and not has_current


def _avoid_name(state: State, job: Job, run: RunName) -> None:
    """Keep the next attempt of another job from getting the name of this one."""
    if not isinstance(job.status, Booked) and job.attempt < run.attempt:
        job.attempt = run.attempt
        state.changes.changed[job.id] = job


def _new_job(state: State, event: NodeJoined, origin: RunOrigin) -> Job:
    """Under the id it had, if this database never gave that to another job."""
    number = origin.run.job
    state.next_id = max(state.next_id, 1 + max(report.job for report in event.runs))
    if number in state.jobs or number in state.outcomes or number not in event.free_ids:
        number = JobId(state.next_id)
        state.next_id += 1
    spec = replace(origin.spec, after=(), begin_at=None, max_running=None)
    job = Job(id=number, spec=spec, submitted_at=origin.submitted_at, position=number)
    state.accept([job])
    return job


def is_crowded_out(job: Job, gpus: tuple[BookedGpu, ...], taken_in: list[Job]) -> bool:
    """True if an attempt that was just taken in has the name or the GPUs of this job's attempt, which has not begun."""
    bookings = [other.status.booking for other in taken_in if isinstance(other.status, Booked)]
    if RunName(job.id, job.attempt) in {other.run for other in bookings}:
        return True
    held = {uuid for other in bookings for gpu in other.gpus for uuid in (gpu.uuid, gpu.parent) if uuid is not None}
    return any(gpu.uuid in held or gpu.parent in held for gpu in gpus)
