"""Does the state agree with itself? Recomputes every index and cache from the facts; each line returned is a defect."""

from __future__ import annotations

from collections import Counter
from math import isclose
from typing import TYPE_CHECKING

from tarmac.core.fit.gpu_fit import size
from tarmac.core.invariants.caches import cache_violations
from tarmac.core.invariants.classes import class_violations
from tarmac.core.model.status import Held, Queued, Running, Starting, Stopping, holds_booking, is_ended, is_working
from tarmac.core.queue.moved_jobs import MovedJobs
from tarmac.core.queue.queue import Turn, class_key
from tarmac.core.runtimes import LAST_ATTEMPTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from tarmac.core.ledger import Ledger
    from tarmac.core.model.gpu import BookedGpu
    from tarmac.core.model.ids import GpuUuid, JobId
    from tarmac.core.model.job import Job, JobSpec, Request
    from tarmac.core.model.node import Node
    from tarmac.core.queue.queue import Classes, ClassKey
    from tarmac.core.state import State


def violations(state: State) -> list[str]:
    checks = (
        _jobs, _bookings, _renamed, _gpus, _queue, _classes, _blocked, _stuck, _dependents, _outputs, _timers,
        _booked_sets,
        _ledger, _hours, _waiting_counts, _runtimes, _outcomes, _node_records, cache_violations,
    )  # fmt: skip
    return [line for check in checks for line in check(state)]


# Jobs and bookings


def _jobs(state: State) -> list[str]:
    found = [f"job {job.id} is filed under {number}" for number, job in state.jobs.items() if job.id != number]
    found += [f"job {job.id} has ended and is still here" for job in state.jobs.values() if is_ended(job.status)]
    found += [f"job {job.id} is not below {state.next_id}" for job in state.jobs.values() if job.id >= state.next_id]
    found += [f"job {job.id} runs without an attempt" for job in state.jobs.values() if _has_no_attempt(job)]
    return found


def _has_no_attempt(job: Job) -> bool:
    return holds_booking(job.status) is not None and job.attempt < 1


def _bookings(state: State) -> list[str]:
    """Each GPU and each part of the host is held by exactly the jobs whose status says so."""
    holders: dict[tuple[str, str], dict[JobId, BookedGpu]] = {}
    hosted: dict[tuple[str, JobId], object] = {}
    for job in state.jobs.values():
        booking = holds_booking(job.status)
        if booking is None:
            continue
        for place in booking.held:
            hosted[place.node, job.id] = job.spec.request
            for gpu in place.gpus:
                holders.setdefault((place.node, gpu.uuid), {})[job.id] = gpu
    found: list[str] = []
    recorded = {(node.name, uuid): jobs for node in state.nodes.values() for uuid, jobs in node.booked.items()}
    if recorded != holders:
        found.append(f"bookings of nodes {recorded} are not those of jobs {holders}")
    if {(node.name, job): asked for node in state.nodes.values() for job, asked in node.host.items()} != hosted:
        found.append(f"what nodes hold for jobs is not what jobs asked of them {sorted(hosted)}")
    return found


def _renamed(state: State) -> list[str]:
    """Exactly the attempts that nodes have under another name are indexed."""
    bookings = {job.id: booking for job in state.jobs.values() if (booking := holds_booking(job.status)) is not None}
    renamed = {(one.node, one.run): job for job, one in bookings.items() if one.run is not None}
    return [] if state.renamed == renamed else [f"renamed attempts are {state.renamed}, should be {renamed}"]


def _gpus(state: State) -> list[str]:
    return [line for node in state.nodes.values() for line in _gpus_of(node)]


def _gpus_of(node: Node) -> list[str]:
    """No GPU is booked by jobs that did not agree to share it, nor over its memory, nor both whole and in MIG parts.

    Jobs that a person started by force are left out; the others must be in order without them.
    """
    found: list[str] = []
    parts: dict[GpuUuid, set[tuple[JobId, GpuUuid]]] = {}
    for uuid, holders in node.booked.items():
        for job, booked in holders.items():
            if booked.parent is not None:
                parts.setdefault(booked.parent, set()).add((job, uuid))
        regular = {job: booked for job, booked in holders.items() if not booked.is_forced}
        if len(regular) > 1 and any(not booked.memory_bytes for booked in regular.values()):
            found.append(f"GPU {uuid} on {node.name} is booked whole and by others too: jobs {list(regular)}")
        gpu = node.gpus.get(uuid)
        if gpu is not None and sum(booked.memory_bytes for booked in regular.values()) > size(gpu):
            found.append(f"GPU {uuid} on {node.name} is booked over its memory by jobs {list(regular)}")
        parents = {booked.parent for booked in regular.values() if booked.parent is not None}
        if any(not booked.is_forced for parent in parents for booked in node.booked.get(parent, {}).values()):
            found.append(f"GPU {uuid} on {node.name} is booked, and so is the GPU that it is a part of")
    if parts != node.booked_parts:
        found.append(f"booked parts of GPUs on {node.name} {node.booked_parts} are not what is booked {parts}")
    return found


def _node_records(state: State) -> list[str]:
    """Nothing is remembered of nodes that are gone."""
    known = {*state.quick_failures, *state.worked_at}
    return [f"failures of {name} are counted, which is not a node" for name in sorted(known - state.nodes.keys())]


# Indexes of the queue


def _queue(state: State) -> list[str]:
    waiting = {job.id for job in state.jobs.values() if isinstance(job.status, Queued)}
    listed = [*state.queue.in_order(), *state.blocked]
    found = [] if set(listed) == waiting else [f"queue {sorted(listed)} is not what waits {sorted(waiting)}"]
    if len(listed) != len(set(listed)):
        found.append(f"a job is twice in the queue {listed}")
    return found


def _classes(state: State) -> list[str]:
    """Every job is in its class under its rank, every class under its owner and request, and first jobs are first."""
    queue, found = state.queue, []
    expected: dict[ClassKey, dict[JobId, tuple[int, float]]] = {}
    for job in state.jobs.values():
        if isinstance(job.status, Queued) and job.id not in state.blocked:
            expected.setdefault(queue.key_of(job), {})[job.id] = job.rank
    if {key: klass.waiting for key, klass in queue.classes.items()} != expected:
        found.append(f"classes of the queue are {list(queue.classes)}, should be {expected}")
    for key, klass in queue.classes.items():
        best = min(Turn(key.tier, *rank, job) for job, rank in klass.waiting.items())
        if klass.turn() != best:
            found.append(f"the head of class {key.owner}/{key.request} is {klass.turn()}, should be {best}")
        if not {(rank, job) for job, rank in klass.waiting.items()} <= set(klass.heap) or not _is_heap(klass.heap):
            found.append(f"the heap of class {key.owner}/{key.request} is damaged")
    by_owner: dict[str, set[ClassKey]] = {}
    by_request: dict[tuple[Request, str], set[ClassKey]] = {}
    for key in queue.classes:
        by_owner.setdefault(key.owner, set()).add(key)
        by_request.setdefault((key.request, key.owner), set()).add(key)
    requests = {(request, owner): own for request, owners in queue.requests.items() for owner, own in owners.items()}
    if {owner: set(own.classes) for owner, own in queue.owners.items()} != by_owner:
        found.append(f"classes by owner are {list(queue.owners)}, should be {by_owner}")
    if {key: set(own) for key, own in requests.items()} != by_request:
        found.append(f"classes by request are {list(requests)}, should be {by_request}")
    kinds = [own for kind in queue.kinds.values() for own in kind.owners.values()]
    return found + _order_of_classes([*queue.owners.values(), *kinds]) + class_violations(state) + _moved(state)


def _order_of_classes(groups: Iterable[Classes]) -> list[str]:
    found = []
    for group in groups:
        turns = sorted(klass.turn() for klass in group.classes.values())
        if [(turn, klass.turn()) for turn, klass in group.in_order()] != [(turn, turn) for turn in turns]:
            found.append(f"the classes of {group.owner} stand as {group.in_order()}, should be {turns}")
    return found


def _moved(state: State) -> list[str]:
    expected = MovedJobs()
    expected.add_many([state.jobs[job] for job in state.queue.in_order()])
    found = []
    for number, key in state.queue.by_run.items():
        job = state.jobs.get(number)
        if job is None or class_key(job) != key._replace(run_magnitude=-1) or key.run_magnitude < 0:
            found.append(f"the class of job {number} is {key}")
    spots = state.queue.moved.spots
    return found if spots == expected.spots else [*found, f"moved jobs are {spots}, should be {expected.spots}"]


def _blocked(state: State) -> list[str]:
    """Exactly the queued jobs that wait for something other than GPUs are set aside."""
    aside = {job.id for job in state.jobs.values() if isinstance(job.status, Queued) and _is_blocked(state, job)}
    return [] if set(state.blocked) == aside else [f"blocked are {sorted(state.blocked)}, should be {sorted(aside)}"]


def _is_blocked(state: State, job: Job) -> bool:
    begin = job.not_before
    is_early = begin is not None and begin > state.now
    return is_early or job.spec.owner in state.suspended or any(not after.is_met for after in job.spec.after)


def _stuck(state: State) -> list[str]:
    """Only jobs in the queue can be stuck."""
    queued = set(state.queue.in_order())
    return [f"job {job} is stuck, but not in the queue" for job in state.stuck_since if job not in queued] + [
        f"job {job} is owed GPUs, but not in the queue" for job in sorted(state.owed - queued)
    ]


def _dependents(state: State) -> list[str]:
    expected: dict[JobId, set[JobId]] = {}
    for job in state.jobs.values():
        for after in job.spec.after:
            if not after.is_met:
                expected.setdefault(after.job, set()).add(job.id)
    return [] if state.dependents == expected else [f"dependents are {state.dependents}, should be {expected}"]


def _outputs(state: State) -> list[str]:
    expected: dict[str, set[JobId]] = {}
    for job in state.jobs.values():
        for path in job.spec.outputs:
            expected.setdefault(path, set()).add(job.id)
    return [] if state.outputs == expected else [f"outputs are {state.outputs}, should be {expected}"]


def _timers(state: State) -> list[str]:
    timers, found = set(state.timers), []
    for number in sorted(state.blocked):
        job = state.jobs.get(number)
        begin = None if job is None else job.not_before
        if begin is not None and begin > state.now and (begin, number) not in timers:
            found.append(f"nothing wakes job {number} at {begin}")
    if not _is_heap(state.timers):
        found.append(f"timers are not a heap: {state.timers}")
    return found


def _is_heap(entries: Sequence[Any]) -> bool:
    return all(entries[(place - 1) // 2] <= entry for place, entry in enumerate(entries) if place)


def _booked_sets(state: State) -> list[str]:
    """The jobs of arrays that hold a booking, those that may be preempted, those that are stopping."""
    groups: dict[JobId, set[JobId]] = {}
    for job in state.jobs.values():
        if job.group is not None and holds_booking(job.status) is not None:
            groups.setdefault(job.group, set()).add(job.id)
    preemptible = {job.id for job in state.jobs.values() if _may_be_preempted(job)}
    stopping = {job.id for job in state.jobs.values() if isinstance(job.status, Stopping)}
    found = [] if state.groups == groups else [f"arrays at work are {state.groups}, should be {groups}"]
    if state.preemptible != preemptible:
        found.append(f"preemptible are {sorted(state.preemptible)}, should be {sorted(preemptible)}")
    if state.stopping != stopping:
        found.append(f"stopping are {sorted(state.stopping)}, should be {sorted(stopping)}")
    return found


def _may_be_preempted(job: Job) -> bool:
    is_at_work = isinstance(job.status, Starting | Running)
    return is_at_work and job.spec.tier == "preemptible" and not job.spec.is_adopted


# Counts


def _ledger(state: State) -> list[str]:
    """GPUs counted for owners and projects are those that their jobs have booked."""
    ledger = state.ledger
    gpus: dict[JobId, float] = {}
    owners: dict[str, float] = {}
    projects: dict[str, float] = {}
    for job in state.jobs.values():
        if (booking := holds_booking(job.status)) is not None:
            gpus[job.id] = sum(gpu.part for gpu in booking.all_gpus)
            owners[job.spec.owner] = owners.get(job.spec.owner, 0.0) + gpus[job.id]
            if job.spec.project:
                projects[job.spec.project] = projects.get(job.spec.project, 0.0) + gpus[job.id]
    fading = {owner: faded.gpus for owner, faded in ledger.faded.items()}
    return [
        *_different("GPUs of jobs in the ledger", {job: use.gpus for job, use in ledger.running.items()}, gpus),
        *_different("GPUs of owners", ledger.gpus_of_owner, owners),
        *_different("GPUs of projects", ledger.gpus_of_project, projects),
        *_different("GPUs that add to faded hours", fading, owners),
        *_running_of(ledger),
    ]


def _running_of(ledger: Ledger) -> list[str]:
    owners: dict[str, set[JobId]] = {}
    projects: dict[str, set[JobId]] = {}
    for job, use in ledger.running.items():
        owners.setdefault(use.owner, set()).add(job)
        if use.project is not None:
            projects.setdefault(use.project, set()).add(job)
    if (ledger.jobs_of_owner, ledger.jobs_of_project) == (owners, projects):
        return []
    return [f"jobs at work are {ledger.jobs_of_owner}, {ledger.jobs_of_project}, should be {owners}, {projects}"]


def _hours(state: State) -> list[str]:
    """No hour of an owner or project is negative, and no project has more hours than all owners together."""
    ledger = state.ledger
    of_all = [*ledger.hours_of_owner.values(), *ledger.hours_of_project.values()]
    found = [f"negative GPU-seconds in {hours}" for hours in of_all if any(gpu_s < 0 for gpu_s in hours.values())]
    found += [f"faded GPU-seconds of {owner} are negative" for owner, one in ledger.faded.items() if one.gpu_s < -1e-6]
    owned = sum(sum(hours.values()) for hours in ledger.hours_of_owner.values())
    in_projects = sum(sum(hours.values()) for hours in ledger.hours_of_project.values())
    if in_projects > owned * (1 + 1e-9) + 1e-6:
        found.append(f"projects had {in_projects} GPU-seconds, their owners only {owned}")
    return found


def _waiting_counts(state: State) -> list[str]:
    counts = state.waiting_counts
    waiting: list[JobSpec] = [job.spec for job in state.jobs.values() if isinstance(job.status, Queued | Held)]
    projects = Counter(spec.project for spec in waiting if spec.project)
    return [
        *_different("jobs that wait", {"all": counts.total}, {"all": len(waiting)}),
        *_different("waiting jobs of owners", counts.of_owner, Counter(spec.owner for spec in waiting)),
        *_different("waiting jobs of projects", counts.of_project, projects),
    ]


def _different(what: str, counted: Mapping[Any, float], expected: Mapping[Any, float]) -> list[str]:
    names = {*counted, *expected}
    if all(isclose(counted.get(name, 0.0), expected.get(name, 0.0), abs_tol=1e-6) for name in names):
        return []
    return [f"{what} are {dict(counted)}, should be {dict(expected)}"]


def _runtimes(state: State) -> list[str]:
    """Remembered runtimes cannot be recomputed: their jobs are gone. They must be few and not negative."""
    idle = [
        job for job in state.runtimes.began if job not in state.jobs or holds_booking(state.jobs[job].status) is None
    ]
    not_running = [job for job in state.runtimes.ends_by_progress if not _is_running(state, job)]
    return [
        *(f"job {job} began and holds no booking" for job in idle),
        *(f"job {job} has an end by its progress and does not run" for job in not_running),
        *_wrong_runtimes(state),
    ]


def _is_running(state: State, job: JobId) -> bool:
    return job in state.jobs and is_working(state.jobs[job].status)


def _wrong_runtimes(state: State) -> list[str]:
    return [
        f"runtimes of {kind} are {list(recent)}"
        for kind, recent in state.runtimes.recent_s.items()
        if not 0 < len(recent) <= LAST_ATTEMPTS or min(recent) < 0
    ] + [
        f"jobs of {width} are thought to take {known}"
        for width, known in state.runtimes.ranges.items()
        if known != state.runtimes.range_of(width)
    ]


def _outcomes(state: State) -> list[str]:
    """Only jobs that have ended have an outcome."""
    return [f"job {job} lives and has an outcome" for job in state.outcomes if job in state.jobs]
