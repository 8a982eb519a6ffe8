"""Converts jobs to rows and back: the only place that knows how records are stored."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from tarmac.core.model.attempt import Attempt
from tarmac.core.model.gpu import BookedGpu, Drain
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Job, JobSpec, Request
from tarmac.core.model.node import NodeDrain
from tarmac.core.model.note import Note
from tarmac.core.model.part import PartsProgress, Place
from tarmac.core.model.queue import Mode, Reservation, Suspension
from tarmac.core.model.status import STATUS_TYPES, Booking, is_ended, state_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.core.changes import StoryLine
    from tarmac.core.model.names import StateName
    from tarmac.core.model.status import Status
    from tarmac.store.accounts import Usage

JOB_COLUMNS = "id, state, attempt, position, submitted_at, group_id, array_index, retried, ooms, spec, status"
ATTEMPT_COLUMNS = (
    "job, attempt, outcome, node, gpus, pid, started_at, ended_at, reason, exit_code, signal, message, error_line,"
    " paused_s, parts, peak_gpu_memory_bytes, utilization, energy_j"
)
ENVIRONMENT_OF_JOB = "CASE WHEN json_valid(spec) THEN json_extract(spec, '$.environment') END"  # as in the index

SHARED_RECORDS = 256  # that jobs share which are read one after the other
T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_drain = msgspec.json.Decoder(Drain)
_gpus = msgspec.json.Decoder(tuple[BookedGpu, ...])
_message = msgspec.json.Decoder(Note | str)
_node_drain = msgspec.json.Decoder(NodeDrain)
_mode = msgspec.json.Decoder(Mode)
_reservation = msgspec.json.Decoder(Reservation)
_suspension = msgspec.json.Decoder(Suspension)
_spec = msgspec.json.Decoder(JobSpec)
_status = {name: msgspec.json.Decoder(kind) for name, kind in STATUS_TYPES.items()}


class _Short:
    """The fields of a record that are used: a missing one means none. For the spec that the jobs of an array share.

    Other defaults are stored: they may differ in a later version, and the job keeps what it was submitted with.
    A spec of one job is stored with all fields, because msgspec takes three times as long to fill in the missing ones.
    """

    def __init__(self, kind: type[JobSpec | Request]) -> None:
        self._names = tuple(one.name for one in fields(kind))
        self._values = attrgetter(*self._names)
        self._unset = {one.name: one.default for one in fields(kind) if one.default in (None, False, 0, ())}

    def __call__(self, record: JobSpec | Request) -> dict[str, Any]:
        unset, named = self._unset, zip(self._names, self._values(record), strict=True)
        return {name: value for name, value in named if name not in unset or value != unset[name]}


_short_spec, _short_request = _Short(JobSpec), _Short(Request)


def _short_json(spec: JobSpec) -> bytes:
    return _encode({**_short_spec(spec), "request": _short_request(spec.request)})


class _Text(Generic[T]):
    """The text of a record. The last one is remembered, because the jobs of an array share their records."""

    def __init__(self, encode: Callable[[T], bytes]) -> None:
        self._encode = encode
        self._last: tuple[T | None, str] = (None, "")  # in one tuple: two threads may use it

    def __call__(self, record: T) -> str:
        last, text = self._last
        if last is not record:
            text = self._encode(record).decode()
            self._last = (record, text)
        return text


_spec_text: _Text[JobSpec] = _Text(_encode)
_shared_spec_text: _Text[JobSpec] = _Text(_short_json)
_status_text: _Text[Status] = _Text(_encode)


# Jobs of an array have the same text, and their records are immutable: a million jobs must not need a million of them.
@lru_cache(SHARED_RECORDS)
def _spec_of(text: str) -> JobSpec:
    return _spec.decode(text)


@lru_cache(SHARED_RECORDS)
def _status_of(state: StateName, text: str) -> Status:
    return _status[state].decode(text)


class StoredAttempt(NamedTuple):
    """An attempt that has ended, and what it used."""

    attempt: Attempt
    peak_gpu_memory_bytes: int | None
    utilization: float | None
    energy_j: float | None


def _spec_text_of(job: Job) -> str:
    return _spec_text(job.spec) if job.index is None else _shared_spec_text(job.spec)


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
        job.index,
        _spec_text_of(job),
        _status_text(job.status),
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
        _status_text(status),
        job.id,
    )


def edited_job_row(job: Job) -> tuple[Any, ...]:
    return (job.spec.name, _spec_text_of(job), job.id)


def job_of(row: tuple[Any, ...]) -> Job:
    number, state, attempt, position, submitted_at, group, index, retried, ooms, spec, status = row
    return Job(
        id=JobId(number),
        spec=_spec_of(spec),
        submitted_at=submitted_at,
        position=float(position),
        attempt=attempt,
        status=_status_of(state, status),
        group=None if group is None else JobId(group),
        index=index,
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
        _parts_text(attempt.booking),
        *((None, None, None) if usage is None else (usage.peak_gpu_memory_bytes, usage.utilization, usage.energy_j)),
    )


class _Parts(msgspec.Struct):
    """Of an attempt on several nodes."""

    others: tuple[Place, ...] = ()
    progress: PartsProgress | None = None


_parts = msgspec.json.Decoder(_Parts)


def _parts_text(booking: Booking) -> str | None:
    return _encode(_Parts(booking.others, booking.progress)).decode() if booking.others else None


def attempt_of(row: tuple[Any, ...]) -> StoredAttempt:
    job, number, end, node, gpus, pid, started_at, ended_at, reason, code, signal, message, line, *more = row
    paused_s, parts, *usage = more
    several = _Parts() if parts is None else _parts.decode(parts)
    attempt = Attempt(
        job=JobId(job),
        number=number,
        end=end,
        booking=Booking(node=NodeName(node), gpus=_gpus.decode(gpus), others=several.others, progress=several.progress),
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


def node_drain_text(drain: NodeDrain) -> str:
    return _encode(drain).decode()


def node_drain_of(text: str) -> NodeDrain:
    return _node_drain.decode(text)


def mode_text(mode: Mode) -> str:
    return _encode(mode).decode()


def mode_of(text: str) -> Mode:
    return _mode.decode(text)


def reservation_text(reservation: Reservation) -> str:
    return _encode(reservation).decode()


def reservation_of(text: str) -> Reservation:
    return _reservation.decode(text)
