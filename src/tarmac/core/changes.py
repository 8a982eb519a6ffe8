"""What events changed since it was last taken. The store writes exactly this."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.model.attempt import Attempt
    from tarmac.core.model.gpu import Drain
    from tarmac.core.model.ids import GpuUuid, JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import NodeDrain
    from tarmac.core.model.queue import Mode, Reservation, Suspension
    from tarmac.core.model.status import Booking


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryLine:
    """One thing that happened to a job, for its owner to read."""

    job: JobId
    attempt: int
    at: float
    kind: str
    detail: dict[str, Any]


class GpuSettings(NamedTuple):
    """What people or Tarmac decided about a GPU."""

    drain: Drain | None
    slots: int


class HourKey(NamedTuple):
    hour: int  # since the epoch
    owner: str
    project: str  # empty: none


class Release(NamedTuple):
    """An attempt gave its booking back."""

    job: JobId
    attempt: int
    owner: str
    project: str | None
    booking: Booking
    since: float  # on the clock as it is set now
    until: float
    paused_s: float = 0.0  # of this time


@dataclass(slots=True)
class Changes:
    new: list[Job] = field(default_factory=list)
    changed: dict[JobId, Job] = field(default_factory=dict)  # including jobs that ended
    edited: set[JobId] = field(default_factory=set)  # the changed jobs whose spec differs, too
    relabelled: dict[JobId, Job] = field(default_factory=dict)  # ended jobs with another name, tags or note
    attempts: list[Attempt] = field(default_factory=list)  # that ended
    story: list[StoryLine] = field(default_factory=list)
    gpus: dict[tuple[NodeName, GpuUuid], GpuSettings] = field(default_factory=dict)
    node_drains: dict[NodeName, NodeDrain | None] = field(default_factory=dict)  # None: no longer
    reservations: dict[int, Reservation | None] = field(default_factory=dict)  # None: it is over
    suspended: dict[str, Suspension | None] = field(default_factory=dict)  # by owner; None: no longer
    mode: Mode | None = None
    hours: dict[HourKey, float] = field(default_factory=dict)  # GPU-seconds to add
    releases: list[Release] = field(default_factory=list)  # of jobs that changed

    def __bool__(self) -> bool:
        return bool(
            self.new
            or self.changed
            or self.relabelled
            or self.gpus
            or self.node_drains
            or self.story
            or self.reservations
            or self.suspended
            or self.mode
            or self.hours
        )
