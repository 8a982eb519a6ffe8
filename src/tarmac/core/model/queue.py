"""The queue as a whole: whether it is paused or draining, and its reservations."""

from __future__ import annotations

from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.note import Note
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """GPUs reserved for one owner's jobs for a period of time."""

    id: int
    owner: str  # whose jobs may use them
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    begins_at: float
    ends_at: float
    by: str
    is_used: bool = False  # a job of its owner has used it


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspension:
    """The waiting jobs of an owner do not start, because the last ones all failed, until a person lets them go on."""

    owner: str
    reason: Note
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """The mode of the whole queue. Paused: no job starts. Draining: no job is accepted."""

    is_paused: bool = False
    is_draining: bool = False
    by: str | None = None  # None: Tarmac itself
    reason: Note | str | None = None  # a person's text, or a note by the core
    since: float | None = None
