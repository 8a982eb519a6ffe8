"""A cluster of equal nodes: which GPUs are free, when the others are expected to be, and where a job fits."""

from dataclasses import dataclass, field
from typing import NamedTuple

FREE = -1.0  # in place of the end of the job that holds a GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    number: int
    submit_s: float
    owner: str
    gpus: int
    duration_s: float
    limit_s: float  # at least the duration


class Place(NamedTuple):
    node: int
    gpus: tuple[int, ...]


class Plan(NamedTuple):
    """The start of a job that does not fit yet."""

    node: int
    gpus: frozenset[int]
    at: float

    def withheld(self, node: int) -> frozenset[int]:
        return self.gpus if node == self.node else frozenset()


@dataclass(slots=True)
class Cluster:
    nodes: int
    gpus_per_node: int
    ends: list[list[float]] = field(init=False)  # of each node: when each GPU is expected to come free, or FREE
    free: list[int] = field(init=False)  # of each node: how many GPUs are free
    held: dict[int, Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ends = [[FREE] * self.gpus_per_node for _ in range(self.nodes)]
        self.free = [self.gpus_per_node] * self.nodes

    def place(self, gpus: int, plan: Plan | None = None) -> Place | None:
        """The fullest node with enough free GPUs beside the plan, and its lowest GPUs."""
        fitting = [(free, node) for node, free in enumerate(self.free) if free >= gpus]
        for _, node in sorted(fitting):
            withheld = plan.withheld(node) if plan is not None else ()
            usable = [gpu for gpu, end in enumerate(self.ends[node]) if end == FREE and gpu not in withheld]
            if len(usable) >= gpus:
                return Place(node, tuple(usable[:gpus]))
        return None

    def plan(self, gpus: int) -> Plan:
        """The node where that number of GPUs is free first; of those free in time, the GPUs that come free last."""
        at, node = min((sorted(ends)[gpus - 1], node) for node, ends in enumerate(self.ends))
        in_time = sorted((end, gpu) for gpu, end in enumerate(self.ends[node]) if end <= at)
        return Plan(node, frozenset(gpu for _, gpu in in_time[-gpus:]), at)

    def book(self, job: Job, place: Place, expected_end: float) -> None:
        self.held[job.number] = place
        self.free[place.node] -= len(place.gpus)
        for gpu in place.gpus:
            self.ends[place.node][gpu] = expected_end

    def release(self, job: Job) -> None:
        place = self.held.pop(job.number)
        self.free[place.node] += len(place.gpus)
        for gpu in place.gpus:
            self.ends[place.node][gpu] = FREE
