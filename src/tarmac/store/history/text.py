"""What the index of the history knows about a job: the text that searches look at, and its labels.

A label stands for an owner, a state, a project, a tag or a node. It is three characters that occur in no other text,
so that the index of trigrams answers filters as quickly as searches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tarmac.core.model.note import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FIRST, _SECOND, _THIRD = 0xF0000, 0xF4000, 0xF8000  # areas of characters for private use
_DIGIT = 0x2000


class Label(NamedTuple):
    kind: str
    value: str


class Indexed(NamedTuple):
    """An ended job as the index stores it."""

    job: int
    ended_at: float
    name: str
    labels: list[Label]
    text: str  # folded


class _Spec(msgspec.Struct):
    name: str | None = None
    project: str | None = None
    tags: list[str] = []
    command: list[str] | None = None
    shell: str | None = None
    note: Any = None
    params: Any = None


class _Place(msgspec.Struct):
    node: str


class _Booking(msgspec.Struct):
    node: str
    others: list[_Place] = []


class _Status(msgspec.Struct):
    booking: _Booking | None = None
    ended_at: float | None = None
    reason: str | None = None
    error_line: str | None = None
    message: Note | str | None = None


_spec = msgspec.json.Decoder(_Spec)
_status = msgspec.json.Decoder(_Status)


class JobRow(NamedTuple):
    id: int
    owner: str
    name: str | None
    state: str
    submitted_at: float
    spec: str
    status: str


JOB_ROW = "id, owner, name, state, submitted_at, spec, status"


def indexed(row: JobRow, words: Callable[[Note], str]) -> Indexed:
    """`words` forms the sentence of a note."""
    try:
        spec, status = _spec.decode(row.spec), _status.decode(row.status)
    except (msgspec.DecodeError, UnicodeDecodeError):  # a damaged row is found by its name
        spec, status = _Spec(name=row.name), _Status()
    labels = [Label("owner", row.owner), Label("state", row.state), Label("project", spec.project or "")]
    labels += [Label("tag", tag) for tag in dict.fromkeys(spec.tags)]
    if status.booking is not None:
        labels.append(Label("node", status.booking.node))
        labels += [Label("node", place.node) for place in status.booking.others]
    message = words(status.message) if isinstance(status.message, Note) else status.message
    command = spec.shell if spec.command is None else " ".join(spec.command)
    parts = [row.name, command, spec.project, *spec.tags, *_flat(spec.note), *_flat(spec.params)]
    parts += [status.reason, message, status.error_line]
    ended_at = row.submitted_at if status.ended_at is None else status.ended_at
    return Indexed(row.id, ended_at, row.name or "", labels, folded("\n".join(part for part in parts if part)))


def folded(text: str) -> str:
    """As it is compared: upper and lower case are the same."""
    return text.casefold()


def label_text(code: int) -> str:
    """The three characters of a label."""
    high, third = divmod(code, _DIGIT)
    first, second = divmod(high, _DIGIT)
    return chr(_FIRST + first) + chr(_SECOND + second) + chr(_THIRD + third)


def trigrams(text: str) -> list[str]:
    return list(dict.fromkeys(text[start : start + 3] for start in range(len(text) - 2)))


def _flat(value: Any) -> Iterator[str]:
    """Parameters as people write them: `lr=0.1`."""
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list):
        for part in value:
            is_pair = isinstance(part, (list, tuple)) and len(part) == 2
            yield "=".join(map(str, part)) if is_pair else str(part)
    elif value is not None:
        yield str(value)
