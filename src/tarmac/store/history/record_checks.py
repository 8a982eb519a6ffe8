"""Checks records of a file before they are imported: their form, the types of all values, and what they refer to.

A file may come from anywhere, and nothing in it may fail a commit or change other jobs.
"""

from __future__ import annotations

import math
import re
import sqlite3
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tarmac.core.model.ids import LARGEST_ID
from tarmac.core.model.names import AttemptEnd, Failure, GroupKind, Loss
from tarmac.core.model.snapshot import leads_elsewhere
from tarmac.core.model.status import is_ended
from tarmac.store import rows
from tarmac.store.database import schema
from tarmac.store.environments.fingerprints import FingerprintRecord
from tarmac.store.history.records import GROUP_JSON, JOB_JSON, TABLES, json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.job import Job
    from tarmac.core.model.snapshot import Snapshot
    from tarmac.store.history.records import Record

MOST_ATTEMPTS = 10_000
TREE_DIGITS = 64
Wrong: TypeAlias = Literal["damaged", "not_ended", "unstorable"]
_Id: TypeAlias = Annotated[int, Meta(gt=0, le=LARGEST_ID)]
_Count: TypeAlias = Annotated[int, Meta(ge=0, le=LARGEST_ID)]
_Time: TypeAlias = Annotated[float, Meta(ge=0, lt=253_402_300_800)]  # until the year 10000
_AttemptNumber: TypeAlias = Annotated[int, Meta(ge=0, le=MOST_ATTEMPTS)]


class _Job(Struct):
    id: _Id
    owner: str
    state: str
    attempt: _AttemptNumber
    submitted_at: _Time
    position: float
    name: str | None = None
    group_id: _Id | None = None
    array_index: _Count | None = None
    retried: _Count = 0
    ooms: _Count = 0


class _Group(Struct):
    id: _Id
    owner: str
    kind: GroupKind
    command: str
    varies: str
    params: list[str]
    count: _Count
    submitted_at: _Time
    name: str | None = None
    indices: str | None = None


class _Attempt(Struct):
    attempt: _AttemptNumber
    outcome: AttemptEnd
    node: str
    ended_at: _Time
    pid: int | None = None
    started_at: _Time | None = None
    reason: Failure | Loss | None = None
    exit_code: int | None = None
    signal: int | None = None
    error_line: str | None = None
    paused_s: float = 0.0
    peak_gpu_memory_bytes: int | None = None
    utilization: float | None = None
    energy_j: float | None = None


class _Event(Struct):
    attempt: _Count
    at: _Time
    kind: str
    detail: dict[str, Any]


class _Link(Struct):
    kind: str
    url: str


class _Usage(Struct):
    peak_gpu_memory_bytes: int | None = None
    utilization: float | None = None
    energy_j: float | None = None
    held_s: float = 0.0
    pause_s: float = 0.0
    measured_s: float = 0.0
    used_s: float = 0.0


class _Original(Struct):
    queue: str
    id: _Id


_FORMS: dict[str, type[Struct]] = {
    "jobs": _Job, "groups": _Group, "attempts": _Attempt, "events": _Event, "links": _Link, "usage": _Usage,
}  # fmt: skip
# Columns that the file does not decide: they are numbered anew, or say which job a row belongs to.
_NOT_GIVEN = {table.name: {table.key, table.generated} for table in TABLES}


class WrongRecord(Exception):
    """Why a record cannot be imported: what is wrong, and where."""

    def __init__(self, what: Wrong, detail: str) -> None:
        super().__init__(what, detail)
        self.what = what
        self.detail = detail


@cache
def columns(table: str) -> frozenset[str]:
    """The columns of a table in this version."""
    with closing(empty()) as connection:
        return frozenset(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))


def empty() -> sqlite3.Connection:
    """An empty database of this version, in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for step in schema.STEPS:
        connection.executescript(step)
    return connection


def checked(record: Any) -> Job:
    """The job of a record. Raises WrongRecord if it, or what belongs to it, has another form."""
    job = _object(record, "job")
    _check_row("jobs", job)
    for name in ("spec", "status"):
        if job.get(name) is None:
            raise WrongRecord("damaged", f"job.{name} is missing")
    _check_parts(record)
    try:
        found = _job_of(job)
        for row in _list(record, "attempts"):
            rows.attempt_of(tuple(stored(row, "attempts").get(name) for name in _ATTEMPT_COLUMNS))
    except (msgspec.ValidationError, msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise WrongRecord("damaged", _in_words(error, "job")) from None
    if not is_ended(found.status):
        raise WrongRecord("not_ended", str(job["state"]))
    if found.spec.owner != job["owner"]:
        raise WrongRecord("damaged", "owner")
    if found.spec.snapshot is not None and not _is_sound(found.spec.snapshot):
        raise WrongRecord("damaged", "snapshot")
    return found


def _check_parts(record: Record) -> None:
    for table in TABLES:
        for row in _list(record, table.name):
            _check_row(table.name, row)
    if record.get("group") is not None:
        _check_group(record["job"], _object(record, "group"))
    if record.get("original") is not None:
        _convert(record["original"], _Original, "original")
    python_of(record)
    variables = {} if record.get("environment") is None else _object(record, "environment")
    if not all(isinstance(value, str | None) for value in variables.values()):
        raise WrongRecord("damaged", "environment")


def _check_group(job: Record, group: Record) -> None:
    """It has the ids from that of its first job on: it cannot take one that a job gets later."""
    _check_row("groups", group)
    is_member = group["id"] == job.get("group_id") and group["id"] <= job["id"] < group["id"] + group["count"]
    if not is_member or group["owner"] != job["owner"]:
        raise WrongRecord("damaged", "group")


def _is_sound(snapshot: Snapshot) -> bool:
    """Nothing of it may lie outside the directory that the job gets."""
    paths = (snapshot.directory, *snapshot.links)
    is_tree = len(snapshot.tree) == TREE_DIGITS and not snapshot.tree.strip("0123456789abcdef")
    return (
        is_tree and snapshot.root.startswith("/") and "\0" not in snapshot.root and not any(map(leads_elsewhere, paths))
    )


def python_of(record: Record) -> FingerprintRecord | None:
    found: FingerprintRecord | None = _convert(record.get("python"), FingerprintRecord | None, "python")
    return found


def _convert(value: Any, form: Any, what: str) -> Any:
    try:
        return msgspec.convert(value, form)
    except msgspec.ValidationError as error:
        raise WrongRecord("damaged", _in_words(error, what)) from None


def _in_words(error: Exception, what: str) -> str:
    """What is wrong, from an error that is about Python."""
    text = str(error)
    place = re.search(r"at `\$\.?([^`]+)`", text)
    name = f"{what}.{place.group(1)}" if place else what
    missing = re.search(r"missing required field `(\w+)`", text)
    if missing:
        return f"{name}.{missing.group(1)} is missing"
    is_time = name.endswith(("_at", ".at"))
    return f"{name} is not a time" if is_time else f"{name} is not valid"


_JOB_COLUMNS = tuple(rows.JOB_COLUMNS.split(", "))
_ATTEMPT_COLUMNS = tuple(name.strip() for name in rows.ATTEMPT_COLUMNS.split(","))
_JSON = {table.name: table.json for table in TABLES} | {"jobs": JOB_JSON, "groups": GROUP_JSON}
_DEFAULTS = {"retried": 0, "ooms": 0}


def _job_of(job: Record) -> Job:
    row = _DEFAULTS | stored(job, "jobs")
    return rows.job_of(tuple(row.get(name) for name in _JOB_COLUMNS))


def stored(row: Record, table: str) -> dict[str, Any]:
    """As the table holds it."""
    return {name: json_text(value) if name in _JSON[table] else value for name, value in row.items()}


def _check_row(table: str, row: Any) -> None:
    if not isinstance(row, dict):
        raise WrongRecord("damaged", f"{table} is not valid")
    what = {"jobs": "job", "groups": "group"}.get(table, table)
    unknown = sorted(row.keys() - (columns(table) - _NOT_GIVEN.get(table, set())))
    if unknown:
        raise WrongRecord("damaged", f"{what}.{unknown[0]} is not known")
    wrong = [name for name, value in row.items() if name not in _JSON[table] and not _is_plain(value)]
    if wrong:
        raise WrongRecord("damaged", f"{what}.{wrong[0]} is not valid")
    _convert(row, _FORMS[table], what)


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str) or (isinstance(value, int) and abs(value) < 2**63)


def _object(record: Any, name: str) -> Record:
    if not isinstance(record, dict) or not isinstance(record.get(name), dict):
        raise WrongRecord("damaged", name)
    found: Record = record[name]
    return found


def _list(record: Record, name: str) -> Iterable[Any]:
    found = record.get(name, [])
    if not isinstance(found, list):
        raise WrongRecord("damaged", name)
    return found
