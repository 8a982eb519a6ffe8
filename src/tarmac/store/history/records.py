"""Jobs as records of a file: one JSON object per job, with every row that belongs to it.

Rows are copied column by column, so that a new column is exported automatically. A new table that belongs to jobs
is added to `TABLES`; a test fails if a table of the schema is neither there nor in `NOT_EXPORTED`.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tarmac.store.database.database import connect_reader
from tarmac.store.environments import fingerprints
from tarmac.store.environments.environments import public_part

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tarmac.store.environments.environments import PublicVariables

FORMAT = 1


class Table(NamedTuple):
    name: str
    key: str  # the column with the id of the job
    json: frozenset[str] = frozenset()  # columns with JSON
    generated: str | None = None  # a column that is numbered anew


TABLES = (
    Table("attempts", "job", frozenset({"gpus", "message", "parts"})),
    Table("events", "job", frozenset({"detail"}), generated="id"),
    Table("links", "job"),
    Table("usage", "job"),
)
JOB_JSON = frozenset({"spec", "status"})
GROUP_JSON = frozenset({"params"})
# What belongs to the queue as a whole, or to GPUs and users, or is derived; or is exported as a part of a record.
NOT_EXPORTED = frozenset({
    "accounts", "answers", "environments", "fingerprints", "gpu_hours", "gpus", "group_counts", "imported",
    "job_fingerprints", "memory_peaks", "memory_samples", "meta", "node_drains", "node_hours", "outbox", "reservations",
    "samples", "settings", "submissions", "suspensions", "templates",
})  # fmt: skip
Record = dict[str, Any]


def header(connection: sqlite3.Connection, *, at: float, version: str) -> Record:
    schema = connection.execute("PRAGMA user_version").fetchone()[0]
    return {"tarmac_export": FORMAT, "version": version, "schema": schema, "queue": queue_id(connection), "at": at}


def queue_id(connection: sqlite3.Connection) -> str:
    """Names this queue: ids are unique in it."""
    found = connection.execute("SELECT value FROM meta WHERE name = 'queue'").fetchone()
    return str(msgspec.json.decode(found[0]))


@contextmanager
def snapshot(database: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees the database as of one moment."""
    with closing(connect_reader(database)) as connection:
        connection.execute("BEGIN")
        yield connection


def records(connection: sqlite3.Connection, numbers: Sequence[int], *, with_environment: bool) -> Iterator[Record]:
    """The records of those that have ended, in the order of their ids."""
    listed = msgspec.json.encode(list(numbers)).decode()
    parts = {table.name: _rows_of(connection, table, listed) for table in TABLES}
    origins = {row["job"]: row for row in _selected(connection, "imported", "job", listed)}
    pythons = fingerprints.of_jobs(connection, listed)
    groups: dict[int, Record | None] = {}
    environments: dict[str, PublicVariables | None] = {}
    for job in sorted(_selected(connection, "jobs", "id", listed, JOB_JSON), key=lambda row: int(row["id"])):
        if job["is_live"]:
            continue  # it runs again
        record: Record = {"job": job}
        for table in TABLES:
            record[table.name] = parts[table.name].get(job["id"], [])
        if (origin := origins.get(job["id"])) is not None:
            record["original"] = {"queue": origin["queue"], "id": origin["original_id"]}
        if (group := job.get("group_id")) is not None:
            if group not in groups:
                groups[group] = next(_selected(connection, "groups", "id", f"[{group}]", GROUP_JSON), None)
            record["group"] = groups[group]
        if (python := pythons.get(job["id"])) is not None:
            record["python"] = msgspec.to_builtins(python)
        if with_environment and (digest := _environment_of(job)):
            if digest not in environments:
                environments[digest] = environment(connection, digest)
            record["environment"] = environments[digest]
        yield record


def encoded(record: Record) -> bytes:
    """One line of a file."""
    return msgspec.json.encode(record) + b"\n"


def _environment_of(job: Record) -> str | None:
    spec = job["spec"]
    return spec.get("environment") if isinstance(spec, dict) else None


def environment(connection: sqlite3.Connection, digest: str) -> PublicVariables | None:
    """All names; the values of secrets are null."""
    found = connection.execute("SELECT body FROM environments WHERE hash = ?", (digest,)).fetchone()
    return None if found is None else public_part(found[0])


def _rows_of(connection: sqlite3.Connection, table: Table, listed: str) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = defaultdict(list)
    for row in _selected(connection, table.name, table.key, listed, table.json):
        number = row.pop(table.key)
        if table.generated is not None:
            del row[table.generated]
        found[number].append(row)
    return found


def _selected(
    connection: sqlite3.Connection, table: str, key: str, listed: str, json: frozenset[str] = frozenset()
) -> Iterator[Record]:
    found = connection.execute(f"SELECT * FROM {table} WHERE {key} IN (SELECT value FROM json_each(?))", (listed,))
    names = [column[0] for column in found.description]
    for row in found:
        yield {
            name: _decoded(value) if name in json and value is not None else value
            for name, value in zip(names, row, strict=True)
        }


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {DAMAGED: text}


DAMAGED = "damaged"  # marks the text of a column that is not JSON


def json_text(value: Any) -> str | None:
    """What `_decoded` read, as it is stored."""
    if value is None:
        return None
    if isinstance(value, dict) and value.keys() == {DAMAGED}:
        return str(value[DAMAGED])
    return msgspec.json.encode(value).decode()
