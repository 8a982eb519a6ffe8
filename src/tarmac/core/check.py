"""Does the state agree with itself? Every sentence returned is a broken rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model import Job, JobId, Queued, holds_booking, is_ended

if TYPE_CHECKING:
    from tarmac.core.state import State


def violations(state: State) -> list[str]:
    return [*_bookings(state), *_queue(state), *_jobs(state)]


def _bookings(state: State) -> list[str]:
    """Each card and each slot is held by exactly the job whose status says so."""
    found: list[str] = []
    holders: dict[tuple[str, str], JobId] = {}
    cpu_jobs: set[tuple[str, JobId]] = set()
    for job in state.jobs.values():
        booking = holds_booking(job.status)
        if booking is None:
            continue
        if not booking.gpus:
            cpu_jobs.add((booking.node, job.id))
        for gpu in booking.gpus:
            other = holders.setdefault((booking.node, gpu.uuid), job.id)
            if other != job.id:
                found.append(f"GPU {gpu.uuid} on {booking.node} is booked by jobs {other} and {job.id}")
    recorded = {(node.name, uuid): job for node in state.nodes.values() for uuid, job in node.booked.items()}
    if recorded != holders:
        found.append(f"bookings of nodes {recorded} are not those of jobs {holders}")
    if {(node.name, job) for node in state.nodes.values() for job in node.cpu_jobs} != cpu_jobs:
        found.append(f"slots of nodes are not those of jobs {sorted(cpu_jobs)}")
    return found


def _queue(state: State) -> list[str]:
    waiting = {job.id for job in state.jobs.values() if isinstance(job.status, Queued)}
    listed = list(state.queue.in_order())
    found = [] if set(listed) == waiting else [f"queue {sorted(listed)} is not what waits {sorted(waiting)}"]
    if len(listed) != len(set(listed)):
        found.append(f"a job stands twice in the queue {listed}")
    for klass in state.queue.classes.values():
        head = klass.head()
        best = min(((rank, job) for job, rank in klass.waiting.items()), default=None)
        if head != best:
            found.append(f"the head of class {klass.owner}/{klass.request} is {head}, should be {best}")
    return found


def _jobs(state: State) -> list[str]:
    found = [f"job {job.id} is filed under {number}" for number, job in state.jobs.items() if job.id != number]
    found += [f"job {job.id} has ended and is still here" for job in state.jobs.values() if is_ended(job.status)]
    found += [f"job {job.id} is not below {state.next_id}" for job in state.jobs.values() if job.id >= state.next_id]
    found += [f"job {job.id} runs without an attempt" for job in state.jobs.values() if _has_no_attempt(job)]
    return found


def _has_no_attempt(job: Job) -> bool:
    return holds_booking(job.status) is not None and job.attempt < 1
