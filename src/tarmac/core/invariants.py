"""Does the state agree with itself? Every sentence returned is a broken rule."""

from __future__ import annotations

from collections import Counter
from math import isclose
from typing import TYPE_CHECKING

from tarmac.core.fit.gpu_fit import size
from tarmac.core.fit.node_fit import fitting_gpus
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import Job
from tarmac.core.model.node import Node
from tarmac.core.model.status import Held, Queued, Running, Starting, Stopping, holds_booking, is_ended
from tarmac.core.queue import Turn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tarmac.core.state import State


def violations(state: State) -> list[str]:
    gpus = [rule for node in state.nodes.values() for rule in _gpus(node)]
    return [
        *_bookings(state), *gpus, *_queue(state), *_jobs(state), *_waiting(state), *_sets(state), *_ledger(state),
        *_room(state),
    ]  # fmt: skip


def _bookings(state: State) -> list[str]:
    """Each GPU and each part of the host is held by exactly the jobs whose status says so."""
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


def _gpus(node: Node) -> list[str]:
    """No GPU is held by two that did not agree to share it, nor over its memory, nor as a whole and in MIG parts.

    Whom a person put there by force stands beside the others; without that one, the others must be in order.
    """
    found: list[str] = []
    parts: dict[GpuUuid, set[tuple[JobId, GpuUuid]]] = {}
    for uuid, held in node.booked.items():
        for job, booked in held.items():
            if booked.parent is not None:
                parts.setdefault(booked.parent, set()).add((job, uuid))
        own = {job: booked for job, booked in held.items() if not booked.is_forced}
        if len(own) > 1 and any(not booked.memory_bytes for booked in own.values()):
            found.append(f"GPU {uuid} on {node.name} is booked whole and by others too: jobs {list(own)}")
        gpu = node.gpus.get(uuid)
        if gpu is not None and sum(booked.memory_bytes for booked in own.values()) > size(gpu):
            found.append(f"GPU {uuid} on {node.name} is booked over its memory by jobs {list(own)}")
        if any(_is_kept(node.booked.get(booked.parent)) for booked in own.values() if booked.parent is not None):
            found.append(f"GPU {uuid} on {node.name} is booked, and so is the GPU that it is a part of")
    if parts != node.booked_parts:
        found.append(f"booked parts of GPUs on {node.name} {node.booked_parts} are not what is booked {parts}")
    return found


def _is_kept(held: dict[JobId, BookedGpu] | None) -> bool:
    return held is not None and any(not booked.is_forced for booked in held.values())


def _queue(state: State) -> list[str]:
    waiting = {job.id for job in state.jobs.values() if isinstance(job.status, Queued)}
    listed = [*state.queue.in_order(), *state.blocked]
    found = [] if set(listed) == waiting else [f"queue {sorted(listed)} is not what waits {sorted(waiting)}"]
    if len(listed) != len(set(listed)):
        found.append(f"a job stands twice in the queue {listed}")
    for klass in state.queue.classes.values():
        head = klass.turn()
        best = min(Turn(klass.key.tier, *rank, job) for job, rank in klass.waiting.items())
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


def _waiting(state: State) -> list[str]:
    """Aside stand exactly those that wait for more than GPUs, and whatever they wait for knows of them."""
    found: list[str] = []
    aside = {job.id for job in state.jobs.values() if isinstance(job.status, Queued) and _waits_for_more(state, job)}
    if set(state.blocked) != aside:
        found.append(f"aside stand {sorted(state.blocked)}, should be {sorted(aside)}")
    dependents: dict[JobId, set[JobId]] = {}
    for job in state.jobs.values():
        for after in job.spec.after:
            if not after.is_met:
                dependents.setdefault(after.job, set()).add(job.id)
    if state.dependents != dependents:
        found.append(f"who waits for whom is {dependents}, not {state.dependents}")
    timers = set(state.timers)
    for number in sorted(aside):
        begin = state.jobs[number].spec.begin_at
        if begin is not None and begin > state.now and (begin, number) not in timers:
            found.append(f"nothing wakes job {number} at {begin}")
    if any(state.timers[(place - 1) // 2] > timer for place, timer in enumerate(state.timers) if place):
        found.append(f"timers are no heap: {state.timers}")
    return found


def _waits_for_more(state: State, job: Job) -> bool:
    begin = job.spec.begin_at
    return (begin is not None and begin > state.now) or any(not after.is_met for after in job.spec.after)


def _sets(state: State) -> list[str]:
    """Arrays, and those that may be asked to leave."""
    found: list[str] = []
    groups: dict[JobId, set[JobId]] = {}
    preemptible: set[JobId] = set()
    for job in state.jobs.values():
        if job.group is not None and holds_booking(job.status) is not None:
            groups.setdefault(job.group, set()).add(job.id)
        is_at_work = isinstance(job.status, Starting | Running)
        if is_at_work and job.spec.tier == "preemptible" and not job.spec.is_adopted:
            preemptible.add(job.id)
    if state.groups != groups:
        found.append(f"arrays at work are {groups}, not {state.groups}")
    leaving = {job.id for job in state.jobs.values() if isinstance(job.status, Stopping)}
    if state.stopping != leaving:
        found.append(f"leaving are {sorted(leaving)}, not {sorted(state.stopping)}")
    if state.preemptible != preemptible:
        found.append(f"to be asked to leave are {sorted(preemptible)}, not {sorted(state.preemptible)}")
    return found


def _ledger(state: State) -> list[str]:
    """What is counted for people and projects is what their jobs have booked, and how many of them wait."""
    ledger = state.ledger
    gpus: dict[JobId, float] = {}
    owners, projects = Counter[str](), Counter[str]()
    for job in state.jobs.values():
        if (booking := holds_booking(job.status)) is not None:
            gpus[job.id] = sum(gpu.part for gpu in booking.gpus)
            owners[job.spec.owner] += gpus[job.id]  # type: ignore[assignment]
            projects[job.spec.project or ""] += gpus[job.id]  # type: ignore[assignment]
    del projects[""]
    counts = state.waiting_counts
    waiting = [job.spec for job in state.jobs.values() if isinstance(job.status, Queued | Held)]
    fading = {owner: faded.gpus for owner, faded in ledger.faded.items()}
    return [
        f"{what} are {dict(counted)}, should be {dict(booked)}"
        for what, counted, booked in (
            ("GPUs of jobs in the ledger", {job: use.gpus for job, use in ledger.running.items()}, gpus),
            ("GPUs of owners", ledger.gpus_of_owner, owners),
            ("GPUs of projects", ledger.gpus_of_project, projects),
            ("GPUs that add to faded hours", fading, owners),
            ("jobs that wait", {"all": counts.total}, {"all": len(waiting)}),
            ("waiting jobs of owners", counts.of_owner, Counter(spec.owner for spec in waiting)),
            ("waiting jobs of projects", counts.of_project, Counter(spec.project for spec in waiting if spec.project)),
        )
        if not _is_alike(counted, booked)
    ]


def _is_alike(counted: Mapping[Any, float], booked: Mapping[Any, float]) -> bool:
    return all(isclose(counted.get(one, 0.0), booked.get(one, 0.0), abs_tol=1e-6) for one in {*counted, *booked})


def _room(state: State) -> list[str]:
    """What is kept of where requests fit is what a fresh look finds, save where it will be looked again anyway."""
    cache, found = state.fit_cache, []
    for request, fits in cache.fits.items():
        for name in set(fits.usable) | set(state.nodes):
            if name in cache.touched_since(fits.read):
                continue
            gpus = fitting_gpus(state.nodes[name], request, state.rules)
            fresh = None if gpus is None else len(gpus)
            if fits.usable.get(name) != fresh:
                found.append(f"{request} is thought to fit on {fits.usable.get(name)} GPUs of {name}, it is {fresh}")
    return found
