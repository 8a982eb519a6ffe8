"""The reasons why a job waits, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.fit.closure import NodeAway, NodeDrained
from tarmac.core.fit.gpu_fit import GpuReason
from tarmac.core.limits import LimitReached
from tarmac.core.policy.eligibility import ArrayFull, Paused
from tarmac.core.policy.feasibility import Lack
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.model.ids import GpuUuid, JobId, NodeName
    from tarmac.core.model.names import Condition
    from tarmac.core.model.note import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class NoNode:
    """No node is connected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathMissing:
    """The node is not used for the job: it lacks a file or directory."""

    node: NodeName
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFewGpus:
    node: NodeName
    asked: int
    free: int  # suitable GPUs that are free now
    total: int
    gpus: tuple[tuple[int | GpuUuid, GpuReason], ...]  # name and reason of each that would not


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSlotsTaken:
    node: NodeName
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostShort:
    """Less memory is available on the host than `keep_host_memory` holds back."""

    node: NodeName
    available_bytes: int
    kept_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBooked:
    """The memory or processors of the host are booked by other jobs."""

    node: NodeName
    what: str  # memory or cpus
    asked: int
    free: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFewNodesFree:
    """It runs on several nodes at once, and too few have what it asks for now."""

    asked: int
    free: int
    gpus: int  # on each


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverFits:
    """No node could run it now, not even idle. It waits in case that changes."""

    lack: Lack  # of the node that comes closest
    nodes: int = 1  # how many there are
    only: tuple[NodeName, ...] = ()  # of these, the nodes that the job may run on, if its owner chose some


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBy:
    by: str
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IsDraft:
    """It has not been released yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitsFor:
    """Another job must end first."""

    job: JobId
    on: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class NotBefore:
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAt:
    """It waits between two attempts."""

    job: JobId
    at: float
    attempt: int  # the next one
    reason: Note  # how the last one failed


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerSuspended:
    """The last jobs of its owner all failed."""

    owner: str
    reason: Note
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFor:
    """Suitable GPUs are held back for the planned start of another job. `at` is None where its time is not known."""

    job: JobId
    node: NodeName
    gpus: int
    at: float | None
    is_overdue: bool = False  # others have passed that job for long


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedFor:
    reservation: int
    owner: str
    node: NodeName
    begins_at: float
    ends_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Another job goes first and has not started either."""

    job: JobId


Reason: TypeAlias = (
    NoNode
    | NodeAway
    | NodeDrained
    | PathMissing
    | TooFewGpus
    | CpuSlotsTaken
    | HostShort
    | HostBooked
    | TooFewNodesFree
    | NeverFits
    | HeldBy
    | IsDraft
    | WaitsFor
    | NotBefore
    | RetryAt
    | OwnerSuspended
    | Paused
    | LimitReached
    | ArrayFull
    | KeptFor
    | ReservedFor
    | Behind
)
