"""The job and the booking behind an attempt, as the node keeps them for a controller whose database lacks the job."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from tarmac.core.events import RunOrigin
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.status import RunName

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.shared.frames.base import Origin

LONGEST_COMMAND = 1000  # characters: the record should fit into one block of the disk


class _Body(msgspec.Struct):
    submitted_at: float
    spec: JobSpec
    gpus: tuple[BookedGpu, ...]


class OriginEntry(msgspec.Struct):
    """In the node's hello."""

    job: int
    attempt: int
    body: str


class _GuessedGpu(msgspec.Struct):
    uuid: GpuUuid
    index: int
    parent: GpuUuid | None


class GuessEntry(msgspec.Struct):
    """In the node's hello, see shared/frames."""

    job: int
    attempt: int
    started_at: float
    user: str | None
    argv: list[str]
    cwd: str | None
    gpus: list[_GuessedGpu]


class Origins(NamedTuple):
    certain: tuple[RunOrigin, ...]
    guessed: tuple[RunOrigin, ...]  # their submit times are not known


log = logging.getLogger(__name__)
T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_body = msgspec.json.Decoder(_Body)


def packed(job: Job, gpus: tuple[BookedGpu, ...], stdout: str | None) -> Origin:
    """For the node to store. The environment stays here: an attempt that was taken in never starts again."""
    spec = replace(job.spec, stdout=stdout, environment="", command=_cut(job.spec.command), after=())
    if spec.shell is not None and len(spec.shell) > LONGEST_COMMAND:
        spec = replace(spec, shell=spec.shell[:LONGEST_COMMAND] + "…")
    body = _encode(_Body(submitted_at=job.submitted_at, spec=spec, gpus=gpus)).decode()
    return {"identity": repr(job.submitted_at), "body": body}


def read_origins(entries: list[OriginEntry], guesses: list[Any]) -> Origins:
    """From a hello. An attempt that another version described in other words still holds its GPUs."""
    certain: list[RunOrigin] = []
    guessed: list[RunOrigin] = []
    for entry in entries:
        try:
            certain.append(_unpacked(entry, _body.decode(entry.body)))
        except msgspec.DecodeError as error:
            log.warning("job %d: another version wrote its origin: %s", entry.job, error)
            origin, is_certain = _recovered(entry)
            (certain if is_certain else guessed).append(origin)
    for guess in guesses:
        try:
            guessed.append(_guessed(msgspec.convert(guess, GuessEntry)))
        except msgspec.ValidationError as error:
            log.error("unreadable guess about an attempt: %s", error)  # noqa: TRY400
    return Origins(tuple(certain), tuple(guessed))


def _unpacked(entry: OriginEntry, body: _Body) -> RunOrigin:
    return RunOrigin(run=_run(entry), submitted_at=body.submitted_at, spec=body.spec, gpus=body.gpus)


def _guessed(entry: GuessEntry) -> RunOrigin:
    gpus = tuple(BookedGpu(uuid=gpu.uuid, index=gpu.index, parent=gpu.parent) for gpu in entry.gpus)
    spec = _least(owner=entry.user, command=tuple(entry.argv), cwd=entry.cwd, gpus=len(gpus))
    return RunOrigin(run=_run(entry), submitted_at=entry.started_at, spec=spec, gpus=gpus)


def _recovered(entry: OriginEntry) -> tuple[RunOrigin, bool]:
    """Decode each part separately. False: the time of the submit is lost, so nothing proves which job it is."""
    body = _any(entry.body)
    submitted_at, listed = _part(body, "submitted_at", float), _part(body, "gpus", list[Any])
    gpus = tuple(gpu for gpu in map(_gpu, listed or ()) if gpu is not None)
    written = _part(body, "spec", dict[str, Any])
    spec = _part(body, "spec", JobSpec) or _least(
        owner=_part(written, "owner", str),
        command=_part(written, "command", tuple[str, ...]),
        shell=_part(written, "shell", str),
        cwd=_part(written, "cwd", str),
        name=_part(written, "name", str),
        stdout=_part(written, "stdout", str),
        gpus=len(gpus),
    )
    origin = RunOrigin(run=_run(entry), submitted_at=submitted_at or 0.0, spec=spec, gpus=gpus)
    return origin, submitted_at is not None


def _gpu(item: Any) -> BookedGpu | None:
    """The whole GPU if it is not clear how much of it."""
    uuid, index = _part(item, "uuid", GpuUuid), _part(item, "index", int)
    if uuid is None:
        return None
    return _converted(item, BookedGpu) or BookedGpu(
        uuid=uuid, index=-1 if index is None else index, parent=_part(item, "parent", GpuUuid)
    )


def _least(
    *,
    owner: str | None,
    command: tuple[str, ...] | None,
    cwd: str | None,
    gpus: int,
    shell: str | None = None,
    name: str | None = None,
    stdout: str | None = None,
) -> JobSpec:
    """What is needed to show the job and to stop it. It never starts again."""
    return JobSpec(
        owner=owner or "",
        command=None if shell is not None else _cut(command or ("?",)),
        shell=shell,
        cwd=cwd or "/",
        umask=0o022,
        environment="",
        request=Request(gpus=gpus),
        name=name,
        stdout=stdout,
    )


def _run(entry: OriginEntry | GuessEntry) -> RunName:
    return RunName(JobId(entry.job), entry.attempt)


def _any(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None


def _part(whole: Any, name: str, kind: type[T]) -> T | None:
    return _converted(whole.get(name), kind) if isinstance(whole, dict) else None


def _converted(value: Any, kind: type[T]) -> T | None:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def _cut(command: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if command is None or sum(map(len, command)) <= LONGEST_COMMAND:
        return command
    words, left = [], LONGEST_COMMAND
    for word in command:
        words.append(word[:left])
        left -= len(word)
        if left <= 0:
            break
    return (*words, "…")
