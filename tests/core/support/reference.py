"""A reference policy: walk the whole queue by rank and start what fits. The core must agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tarmac.core.model.job import Job, Request
from tarmac.core.model.status import Queued, Running, Starting, Stopping, Unknown

Place: TypeAlias = tuple[str, tuple[str, ...]]  # node, uuids
Start: TypeAlias = tuple[int, tuple[Place, ...]]  # job, and a place on each of its nodes


@dataclass(kw_only=True)
class Told:
    """What the core knows of a node."""

    is_connected: bool = False
    is_drained: bool = False
    is_watch_only: bool = False
    slots: int = 0
    uuids: tuple[str, ...] = ()


class Floor:
    """Free GPUs, from the reports and the bookings of the jobs."""

    def __init__(self, told: dict[str, Told], jobs: list[Job], placement: str = "pack") -> None:
        self.told = told
        self.placement = placement
        self.holders: dict[tuple[str, str], int] = {}
        self.slots_taken = dict.fromkeys(told, 0)
        self.owners = {job.id: job.spec.owner for job in jobs}
        for job in jobs:
            status = job.status
            if isinstance(status, Starting | Running | Stopping) or (
                isinstance(status, Unknown) and status.ended_at is None
            ):
                places = status.booking.held
                self.take(job.id, tuple((one.node, tuple(gpu.uuid for gpu in one.gpus)) for one in places))

    def take(self, job: int, places: tuple[Place, ...]) -> None:
        assert len({node for node, _ in places}) == len(places), f"job {job} is twice on a node"
        for node, uuids in places:
            for uuid in uuids:
                assert (node, uuid) not in self.holders, f"{uuid} is held twice"
                self.holders[node, uuid] = job
            if not uuids:
                self.slots_taken[node] = self.slots_taken.get(node, 0) + 1

    def running(self, owner: str) -> int:
        """GPUs in use by this owner."""
        return sum(self.owners[holder] == owner for holder in self.holders.values())

    def free(self, node: str) -> tuple[str, ...]:
        return tuple(uuid for uuid in self.told[node].uuids if (node, uuid) not in self.holders)

    def place(self, request: Request, nodes: list[str]) -> tuple[Place, ...] | None:
        """On preferred nodes; then on the fullest (to spread: the emptiest) that fit; the first of equals."""
        fitting = [name for name in nodes if self._fits(request, name)]
        if len(fitting) < request.node_count:
            return None
        sign = 1 if self.placement == "pack" else -1
        preferred = [name for name in request.prefer_nodes if name in fitting]
        others = sorted(
            (name for name in fitting if name not in preferred), key=lambda name: sign * len(self.free(name))
        )
        return tuple((name, self.free(name)[: request.gpus]) for name in [*preferred, *others][: request.node_count])

    def may_run(self, request: Request, name: str) -> bool:
        """Whatever is free there."""
        node = self.told.get(name)
        if node is None or not node.is_connected or node.is_drained or node.is_watch_only:
            return False
        return name in (request.only_nodes or (name,)) and name not in request.exclude_nodes

    def _fits(self, request: Request, name: str) -> bool:
        if not self.may_run(request, name):
            return False
        gpus, node = request.gpus, self.told[name]
        return self.slots_taken[name] < node.slots if gpus == 0 else len(self.free(name)) >= gpus


def starts(floor: Floor, waiting: list[Job], nodes: list[str], policy: str) -> list[Start]:
    """Start jobs in turn. If a job does not fit, all equal requests are skipped."""
    found: list[Start] = []
    left = list(waiting)
    while left:
        job = _whose_turn(left, floor, policy)
        left.remove(job)
        placed = floor.place(job.spec.request, nodes)
        if placed is None:
            left = [other for other in left if not _is_alike(other, job)]
        else:
            floor.take(job.id, placed)
            floor.owners[job.id] = job.spec.owner
            found.append((job.id, placed))
    return found


def _is_alike(one: Job, other: Job) -> bool:
    return (one.spec.owner, one.spec.request) == (other.spec.owner, other.spec.request)


def _whose_turn(waiting: list[Job], floor: Floor, policy: str) -> Job:
    by_rank = sorted(waiting, key=lambda job: (job.spec.priority, job.position))
    if policy == "fifo":
        return by_rank[0]
    firsts = {job.spec.owner: job for job in reversed(by_rank)}
    return min(firsts.values(), key=lambda job: (floor.running(job.spec.owner), job.submitted_at, job.id))


def is_waiting(job: Job) -> bool:
    return isinstance(job.status, Queued)


def may_start(job: Job, now: float) -> bool:
    """It waits for GPUs, and for nothing else."""
    return isinstance(job.status, Queued) and (job.status.retry_at is None or job.status.retry_at <= now)
