"""One attempt of a job: where it ran and how it ended. Stored when it ends; the job's status tells about the latest."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from tarmac.core.model.ids import JobId
from tarmac.core.model.names import AttemptEnd, Failure, Loss
from tarmac.core.model.note import Note
from tarmac.core.model.status import Booking, Cancelled, Failed, Succeeded, Unknown
from tarmac.records import dataclass

Ended: TypeAlias = Succeeded | Failed | Cancelled | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    job: JobId
    number: int
    end: AttemptEnd
    booking: Booking
    pid: int | None
    started_at: float | None  # None: its command never ran
    ended_at: float
    reason: Failure | Loss | None = None
    exit_code: int | None = None
    signal: int | None = None
    message: Note | str | None = None
    error_line: str | None = None
    paused_s: float = 0.0


def end_of(ended: Ended) -> AttemptEnd:
    """How an attempt ended that was not stopped to run again."""
    match ended:
        case Succeeded():
            return "succeeded"
        case Failed():
            return "failed"
        case Cancelled():
            return "cancelled"
        case Unknown():
            return "unknown"
        case _:
            assert_never(ended)


def attempt_of(job: JobId, number: int, booking: Booking, ended: Ended, end: AttemptEnd, ended_at: float) -> Attempt:
    exit_code: int | None = None
    signal: int | None = None
    message: Note | str | None = None
    error_line: str | None = None
    match ended:
        case Succeeded():
            exit_code = 0
        case Failed():
            exit_code, signal, message, error_line = ended.exit_code, ended.signal, ended.message, ended.error_line
        case Cancelled():
            exit_code, signal = ended.exit_code, ended.signal
        case Unknown():
            message = ended.message
        case _:
            assert_never(ended)
    return Attempt(
        job=job,
        number=number,
        end=end,
        booking=booking,
        pid=ended.pid,
        started_at=ended.started_at,
        ended_at=ended_at,
        reason=ended.reason if isinstance(ended, Failed | Unknown) else None,
        exit_code=exit_code,
        signal=signal,
        message=message,
        error_line=error_line,
        paused_s=ended.paused_s,
    )
