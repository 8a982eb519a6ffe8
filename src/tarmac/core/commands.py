"""Commands to nodes and notifiers. They are carried out after the decision is on disk; each may be repeated."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import TERM
from tarmac.core.model.note import Note
from tarmac.core.model.part import Place
from tarmac.core.model.status import Booking
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StartJob:
    job: JobId
    attempt: int
    booking: Booking
    part: int = 0  # of a job on several nodes: the place in the booking
    port: int | None = None  # of a further part: the port that the first node chose

    @property
    def place(self) -> Place:
        return self.booking.places[self.part]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptProcess:
    node: NodeName
    job: JobId
    attempt: int
    pid: int
    start_time: int | None = None  # refuse a process with another start time
    uid: int | None = None  # refuse a process of another user


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalJob:
    """Ask the process tree to end now, and kill what is left of it after `grace_s`."""

    node: NodeName
    job: JobId
    attempt: int
    grace_s: float
    signal: int = TERM
    warn: str | None = None  # this warning comes first; see shared.end_warning


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseJob:
    """Freeze the process tree, or let it go on."""

    node: NodeName
    job: JobId
    attempt: int
    is_paused: bool
    is_counted: bool = False  # the pause counts against the time limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify:
    """Run the notify command. Sent once; a lost notification does no harm."""

    what: Literal["job-warned", "gpu-drained", "node-drained", "owner-suspended", "reservation-released"]
    message: Note
    job: JobId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRun:
    """The node may drop its record of this attempt: the outcome is stored."""

    node: NodeName
    job: JobId
    attempt: int


Command: TypeAlias = StartJob | AdoptProcess | SignalJob | PauseJob | ForgetRun | Notify
