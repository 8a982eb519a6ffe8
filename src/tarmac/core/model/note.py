"""A message as data: a key and its values. The core never forms sentences; `api.wording` does, in each language."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tarmac.records import dataclass

NoteKey: TypeAlias = Literal[
    "requeue.preempted",
    "requeue.queue_stopped",
    "requeue.time_limit",
    "requeue.failed",
    "requeue.retried",
    "requeue.missing",
    "dependency.unmet",
    "failed.full_disk",
    "failed.no_secrets",
    "failed.many_secrets",
    "failed.no_code",
    "failed.no_fetch",
    "failed.stopped_early",
    "failed.crowded_out",
    "failed.stopped_part",
    "unknown.adopted",
    "unknown.still_running",
    "unknown.gone",
    "unknown.no_record",
    "unknown.taken_in",
    "unknown.node_forgotten",
    "drained.failures",
    "drained.failures_alike",
    "suspended.failures",
    "suspended.failures_alike",
    "paused.stopped",
    "warning.idle",
    "warning.overbooked",
    "notice.job_warned",
    "notice.job_stopped",
    "notice.gpu_drained",
    "notice.node_drained",
    "notice.owner_suspended",
    "notice.reservation_released",
]
Value: TypeAlias = "str | int | float | Note | None"


@dataclass(frozen=True, slots=True)
class Note:
    """`values` is a tuple of pairs, so that a note can be compared, hashed and stored like any other record."""

    key: str  # of a new note a NoteKey; of a stored one perhaps the key of another version
    values: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        """For logs and tests. Users see the text from `api.wording`."""
        return " ".join([self.key, *(f"{name}={value}" for name, value in self.values)])


def note(key: NoteKey, /, **values: Value) -> Note:
    return Note(key, tuple(values.items()))
