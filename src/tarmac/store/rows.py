"""Converts jobs to rows and back: the only place that knows how records are stored."""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tarmac.core.model.attempt import Attempt
from tarmac.core.model.gpu import BookedGpu, Drain
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Job, JobSpec
from tarmac.core.model.note import Note
from tarmac.core.model.queue import Mode, Reservation, Suspension
from tarmac.core.model.status import STATUS_TYPES, Booking, is_ended, state_name

if TYPE_CHECKING:
    from tarmac.core.changes import StoryLine
    from tarmac.store.accounts import Usage

JOB_COLUMNS = "id, state, attempt, position, submitted_at, group_id, retried, ooms, spec, status"
ATTEMPT_COLUMNS = (
    "job, attempt, outcome, node, gpus, pid, started_at, ended_at, reason, exit_code, signal, message, error_line,"
    " paused_s, peak_gpu_memory_bytes, utilization, energy_j"
)
ENVIRONMENT_OF_JOB = "CASE WHEN json_valid(spec) THEN json_extract(spec, '$.environment') END"  # as in the index

_encode = msgspec.json.Encoder().encode
_drain = msgspec.json.Decoder(Drain)
_gpus = msgspec.json.Decoder(tuple[BookedGpu, ...])
_message = msgspec.json.Decoder(Note | str)
_mode = msgspec.json.Decoder(Mode)
_reservation = msgspec.json.Decoder(Reservation)
_suspension = msgspec.json.Decoder(Suspension)
_spec = msgspec.json.Decoder(JobSpec)
_status = {name: msgspec.json.Decoder(kind) for name, kind in STATUS_TYPES.items()}


class StoredAttempt(NamedTuple):
    """An attempt that has ended, and what it used."""

    attempt: Attempt
    peak_gpu_memory_bytes: int | None
    utilization: float | None
    energy_j: float | None


def new_job_row(job: Job) -> tuple[Any, ...]:
    spec = job.spec
    state = state_name(job.status)
    return (
        job.id,
        spec.owner,
        spec.name,
        state,
        not is_ended(job.status),
        job.attempt,
        job.position,
        job.submitted_at,
        job.group,
        _encode(spec).decode(),
        _encode(job.status).decode(),
    )


def changed_job_row(job: Job) -> tuple[Any, ...]:
    status = job.status
    return (
        state_name(status),
        not is_ended(status),
        job.attempt,
        job.position,
        job.retried,
        job.ooms,
        _encode(status).decode(),
        job.id,
    )


def edited_job_row(job: Job) -> tuple[Any, ...]:
    return (job.spec.name, _encode(job.spec).decode(), job.id)


def job_of(row: tuple[Any, ...]) -> Job:
    number, state, attempt, position, submitted_at, group, retried, ooms, spec, status = row
    return Job(
        id=JobId(number),
        spec=_spec.decode(spec),
        submitted_at=submitted_at,
        position=float(position),
        attempt=attempt,
        status=_status[state].decode(status),
        group=None if group is None else JobId(group),
        retried=retried,
        ooms=ooms,
    )


def attempt_row(attempt: Attempt, usage: Usage | None) -> tuple[Any, ...]:
    return (
        attempt.job,
        attempt.number,
        attempt.end,
        attempt.booking.node,
        _encode(attempt.booking.gpus).decode(),
        attempt.pid,
        attempt.started_at,
        attempt.ended_at,
        attempt.reason,
        attempt.exit_code,
        attempt.signal,
        None if attempt.message is None else _encode(attempt.message).decode(),
        attempt.error_line,
        attempt.paused_s,
        *((None, None, None) if usage is None else (usage.peak_gpu_memory_bytes, usage.utilization, usage.energy_j)),
    )


def attempt_of(row: tuple[Any, ...]) -> StoredAttempt:
    job, number, end, node, gpus, pid, started_at, ended_at, reason, code, signal, message, line, paused_s, *usage = row
    attempt = Attempt(
        job=JobId(job),
        number=number,
        end=end,
        booking=Booking(node=NodeName(node), gpus=_gpus.decode(gpus)),
        pid=pid,
        started_at=started_at,
        ended_at=ended_at,
        reason=reason,
        exit_code=code,
        signal=signal,
        message=None if message is None else _message.decode(message),
        error_line=line,
        paused_s=paused_s,
    )
    return StoredAttempt(attempt, *usage)


def suspension_text(suspension: Suspension) -> str:
    return _encode(suspension).decode()


def suspension_of(text: str) -> Suspension:
    return _suspension.decode(text)


def event_row(line: StoryLine) -> tuple[Any, ...]:
    return (line.job, line.attempt, line.at, line.kind, _encode(line.detail).decode())


def gpu_row(node: NodeName, uuid: GpuUuid, drain: Drain | None, slots: int) -> tuple[Any, ...]:
    return (node, uuid, None if drain is None else _encode(drain).decode(), slots)


def gpu_of(row: tuple[Any, ...]) -> tuple[NodeName, GpuUuid, Drain | None, int]:
    node, uuid, drain, slots = row
    return NodeName(node), GpuUuid(uuid), None if drain is None else _drain.decode(drain), slots


def mode_text(mode: Mode) -> str:
    return _encode(mode).decode()


def mode_of(text: str) -> Mode:
    return _mode.decode(text)


def reservation_text(reservation: Reservation) -> str:
    return _encode(reservation).decode()


def reservation_of(text: str) -> Reservation:
    return _reservation.decode(text)


def pack_environment(variables: dict[str, str]) -> tuple[str, bytes]:
    """(hash, body). The order of the variables does not affect the hash."""
    body = _encode(sorted(variables.items()))
    return blake2b(body, digest_size=16).hexdigest(), zlib.compress(body, 1)


def unpack_environment(body: bytes) -> dict[str, str]:
    return dict(msgspec.json.decode(zlib.decompress(body), type=list[tuple[str, str]]))
