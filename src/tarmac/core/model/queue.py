"""The queue as a whole: whether it is paused or draining, and its reservations."""

from __future__ import annotations

from dataclasses import dataclass

from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.note import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """GPUs that are kept for somebody's jobs for a while."""

    id: int
    owner: str  # whose jobs may use them
    node: NodeName
    gpus: tuple[GpuUuid, ...]
    begins_at: float
    ends_at: float
    by: str
    is_used: bool = False  # a job of its owner was there since it began


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """How the queue as a whole is. Paused: nothing starts. Draining: nothing new is accepted."""

    is_paused: bool = False
    is_draining: bool = False
    by: str | None = None  # None: Tarmac itself
    reason: Note | str | None = None  # in the words of a person, or what the core concluded
    since: float | None = None
