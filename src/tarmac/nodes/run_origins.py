"""The job and the booking behind an attempt, as the node keeps them for a controller whose database lacks the job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from tarmac.core.events import RunOrigin
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import JobSpec
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


_encode = msgspec.json.Encoder().encode
_body = msgspec.json.Decoder(_Body)


def packed(job: Job, gpus: tuple[BookedGpu, ...], stdout: str | None) -> Origin:
    """For the node to store. The environment stays here: an attempt that was taken in never starts again."""
    spec = replace(job.spec, stdout=stdout, environment="", command=_cut(job.spec.command), after=())
    if spec.shell is not None and len(spec.shell) > LONGEST_COMMAND:
        spec = replace(spec, shell=spec.shell[:LONGEST_COMMAND] + "…")
    body = _encode(_Body(submitted_at=job.submitted_at, spec=spec, gpus=gpus)).decode()
    return {"identity": repr(job.submitted_at), "body": body}


def unpacked(entry: OriginEntry) -> RunOrigin:
    """Raises msgspec.DecodeError if another version wrote something that this one does not understand."""
    body = _body.decode(entry.body)
    run = RunName(JobId(entry.job), entry.attempt)
    return RunOrigin(run=run, submitted_at=body.submitted_at, spec=body.spec, gpus=body.gpus)


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
