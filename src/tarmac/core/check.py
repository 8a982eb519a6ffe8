"""Does the state agree with itself? Every sentence returned is a broken rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model import BookedGpu, GpuUuid, Job, JobId, Node, Queued, holds_booking, is_ended
from tarmac.core.policy.card import size

if TYPE_CHECKING:
    from tarmac.core.state import State


def violations(state: State) -> list[str]:
    cards = [rule for node in state.nodes.values() for rule in _cards(node)]
    return [*_bookings(state), *cards, *_queue(state), *_jobs(state)]


def _bookings(state: State) -> list[str]:
    """Each card and each part of the host is held by exactly the jobs whose status says so."""
    holders: dict[tuple[str, str], dict[JobId, BookedGpu]] = {}
    hosted: dict[tuple[str, JobId], object] = {}
    for job in state.jobs.values():
        booking = holds_booking(job.status)
        if booking is None:
            continue
        hosted[booking.node, job.id] = job.spec.request
        for gpu in booking.gpus:
            holders.setdefault((booking.node, gpu.uuid), {})[job.id] = gpu
    found: list[str] = []
    recorded = {(node.name, uuid): held for node in state.nodes.values() for uuid, held in node.booked.items()}
    if recorded != holders:
        found.append(f"bookings of nodes {recorded} are not those of jobs {holders}")
    if {(node.name, job): asked for node in state.nodes.values() for job, asked in node.host.items()} != hosted:
        found.append(f"what nodes hold for jobs is not what jobs asked of them {sorted(hosted)}")
    return found


def _cards(node: Node) -> list[str]:
    """No card is held by two that did not agree to share it, nor over its memory, nor as a whole and in MIG parts."""
    found: list[str] = []
    parts: dict[GpuUuid, set[tuple[JobId, GpuUuid]]] = {}
    for uuid, held in node.booked.items():
        for job, booked in held.items():
            if booked.parent is not None:
                parts.setdefault(booked.parent, set()).add((job, uuid))
        if len(held) > 1 and any(not booked.memory_bytes for booked in held.values()):
            found.append(f"GPU {uuid} on {node.name} is booked whole and by others too: jobs {list(held)}")
        card = node.gpus.get(uuid)
        if card is not None and sum(booked.memory_bytes for booked in held.values()) > size(card):
            found.append(f"GPU {uuid} on {node.name} is booked over its memory by jobs {list(held)}")
        if any(booked.parent in node.booked for booked in held.values()):
            found.append(f"GPU {uuid} on {node.name} is booked, and so is the card that it is a part of")
    if parts != node.booked_parts:
        found.append(f"booked parts of cards on {node.name} {node.booked_parts} are not what is booked {parts}")
    return found


def _queue(state: State) -> list[str]:
    waiting = {job.id for job in state.jobs.values() if isinstance(job.status, Queued)}
    listed = [*state.queue.in_order(), *state.blocked]
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
