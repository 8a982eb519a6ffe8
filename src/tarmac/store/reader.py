"""Queries: live jobs at start-up, ended jobs, and the history of a job."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.core.ledger import HourRow
from tarmac.core.model.ids import NodeName
from tarmac.records import dataclass
from tarmac.shared.names import AT_WORK
from tarmac.store import accounts, node_hours, rows, templates
from tarmac.store.batch import Link
from tarmac.store.environments import environments, fingerprints
from tarmac.store.environments.secret_files import SecretsMissing
from tarmac.store.groups import LIVE, GroupReader
from tarmac.store.outbox import OutboxReader

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tarmac.core.model.gpu import Drain
    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import NodeDrain
    from tarmac.core.model.queue import Mode, Reservation, Suspension
    from tarmac.store.accounts import By, Key, Scope, Sums, Usage
    from tarmac.store.environments.secret_files import SecretFiles
    from tarmac.store.node_hours import HourSums


# As in the condition of an index: SQLite uses it only for queries that repeat the condition word by word.
IS_AT_WORK = f"state IN ({', '.join(map(repr, AT_WORK))})"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Selects jobs. All conditions must hold; None and empty ones are ignored."""

    ids: tuple[range, ...] | None = None
    states: tuple[str, ...] = ()
    is_live: bool | None = None  # an alternative to `states`, if both are given
    owner: str | None = None
    other_than: str | None = None  # an owner
    name: str | None = None  # a glob
    tag: str | None = None
    group: range | None = None  # of the ids of its jobs, the first of which is its own
    node: str | None = None  # that the job runs on, or ran on last
    is_alone: bool = False  # not part of a group


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    id: int
    job: int
    attempt: int
    at: float
    kind: str
    detail: dict[str, Any]


class Reader:
    def __init__(self, connection: sqlite3.Connection, secrets: SecretFiles) -> None:
        self._connection = connection
        self._secrets = secrets
        self.outbox = OutboxReader(lambda: self._connection)
        self.groups = GroupReader(lambda: self._connection)

    def close(self) -> None:
        self._connection.close()

    def use(self, connection: sqlite3.Connection) -> None:
        """Continue with another file."""
        self._connection = connection

    def live_jobs(self) -> Iterator[Job]:
        found = self._connection.execute(f"SELECT {rows.JOB_COLUMNS} FROM jobs WHERE is_live = 1 ORDER BY id")
        try:
            yield from map(rows.job_of, found)
        finally:
            found.close()  # an unreadable row would otherwise leave the cursor and the file open

    def gpus(self) -> list[tuple[NodeName, GpuUuid, Drain | None, int]]:
        return [rows.gpu_of(row) for row in self._connection.execute("SELECT node, uuid, drain, slots FROM gpus")]

    def node_drains(self) -> list[tuple[NodeName, NodeDrain]]:
        found = self._connection.execute("SELECT node, body FROM node_drains ORDER BY node")
        return [(NodeName(node), rows.node_drain_of(body)) for node, body in found]

    def mode(self) -> Mode | None:
        row = self._connection.execute("SELECT value FROM meta WHERE name = 'mode'").fetchone()
        return None if row is None else rows.mode_of(row[0])

    def suspensions(self) -> list[Suspension]:
        found = self._connection.execute("SELECT body FROM suspensions ORDER BY owner")
        return [rows.suspension_of(row[0]) for row in found]

    def reservations(self) -> list[Reservation]:
        return [rows.reservation_of(row[0]) for row in self._connection.execute("SELECT body FROM reservations")]

    def next_reservation(self) -> int:
        found = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'reservations'").fetchone()
        return 1 if found is None else int(found[0]) + 1

    def gpu_hours(self, since_hour: int) -> list[HourRow]:
        """Oldest first."""
        found = self._connection.execute(
            "SELECT hour, owner, project, gpu_s FROM gpu_hours WHERE hour >= ? ORDER BY hour, owner, project",
            (since_hour,),
        )
        return [HourRow(*row) for row in found]

    def ended_jobs(self, limit: int) -> Iterator[Job]:
        """The newest first."""
        found = self._connection.execute(
            f"SELECT {rows.JOB_COLUMNS} FROM jobs WHERE is_live = 0 ORDER BY id DESC LIMIT ?", (limit,)
        )
        try:
            yield from map(rows.job_of, found)
        finally:
            found.close()

    def settings(self) -> dict[str, str]:
        return dict(self._connection.execute("SELECT name, value FROM settings").fetchall())

    def usage(self, job: int) -> Usage | None:
        """What the attempts of a job took that are over."""
        return self.usage_of([job]).get(job)

    def usage_of(self, jobs: Sequence[int]) -> dict[int, Usage]:
        """The same of each of these jobs that has some."""
        return accounts.usage_of(self._connection, jobs)

    def account_sums(self, by: By, scope: Scope) -> dict[Key, Sums]:
        return accounts.sums(self._connection, by, scope)

    def first_account_day(self) -> str | None:
        return accounts.first_day(self._connection)

    def memory_peaks(self, owner: str, kind: str) -> list[int]:
        """The memory that the last jobs took, the newest first."""
        return accounts.peaks_of(self._connection, owner, kind)

    def samples(self, node: str, uuid: str, since: int) -> list[tuple[int, int | None, float | None, float | None]]:
        found = self._connection.execute(
            "SELECT at, memory_used_bytes, utilization, power_w FROM samples"
            " WHERE node = ? AND uuid = ? AND at >= ? ORDER BY at",
            (node, uuid, since),
        )
        return found.fetchall()

    def memory_samples(self, job: int, attempt: int) -> list[tuple[int, int]]:
        """The host memory of an attempt by the minute: (at, bytes)."""
        found = self._connection.execute(
            "SELECT at, bytes FROM memory_samples WHERE job = ? AND attempt = ? ORDER BY at", (job, attempt)
        )
        return found.fetchall()

    def hour_sums(self, begin: float, end: float) -> dict[int, HourSums]:
        """GPU time of all nodes, by the beginning of the hour."""
        return node_hours.sums(self._connection, begin, end)

    def first_hour(self) -> int | None:
        return node_hours.first(self._connection)

    def next_id(self) -> int:
        found = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'").fetchone()
        return 1 if found is None else found[0] + 1

    def last_event(self) -> int:
        """The id of the newest event, even if it was deleted with its job."""
        found = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
        return 0 if found is None else int(found[0])

    def job(self, number: int) -> Job | None:
        row = self._connection.execute(f"SELECT {rows.JOB_COLUMNS} FROM jobs WHERE id = ?", (number,)).fetchone()
        return None if row is None else rows.job_of(row)

    def original_id(self, number: int) -> int | None:
        """The id that an imported job had where it was submitted."""
        row = self._connection.execute("SELECT original_id FROM imported WHERE job = ?", (number,)).fetchone()
        return None if row is None else int(row[0])

    def newest_of(self, owner: str) -> int | None:
        row = self._connection.execute(
            "SELECT id FROM jobs WHERE owner = ? ORDER BY id DESC LIMIT 1", (owner,)
        ).fetchone()
        return None if row is None else int(row[0])

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Several queries see the same commit."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def select_ids(
        self, wanted: JobFilter, *, after: int | None = None, limit: int = -1, descending: bool = False
    ) -> list[int]:
        """Ids in order, starting after `after`: with keyset paging every page costs the same."""
        where, values = _conditions(wanted)
        if after is not None:
            where.append("id < ?" if descending else "id > ?")
            values.append(after)
        clause = f"WHERE {' AND '.join(where)}" if where else ""
        order = "DESC" if descending else "ASC"
        found = self._connection.execute(f"SELECT id FROM jobs {clause} ORDER BY id {order} LIMIT ?", (*values, limit))
        return [row[0] for row in found]

    def jobs(self, numbers: Iterable[int]) -> dict[int, Job]:
        listed = msgspec.json.encode(list(numbers)).decode()
        found = self._connection.execute(
            f"SELECT {rows.JOB_COLUMNS} FROM jobs WHERE id IN (SELECT value FROM json_each(?))", (listed,)
        )
        return {row[0]: rows.job_of(row) for row in found}

    def jobs_submitted_at(self, at: float) -> list[Job]:
        """A scan of all jobs: it takes a while."""
        found = self._connection.execute(f"SELECT {rows.JOB_COLUMNS} FROM jobs WHERE submitted_at = ?", (at,))
        return [rows.job_of(row) for row in found]

    def story(self, job: int) -> list[StoredEvent]:
        found = self._connection.execute(
            "SELECT id, job, attempt, at, kind, detail FROM events WHERE job = ? ORDER BY id", (job,)
        )
        return [
            StoredEvent(id=number, job=job, attempt=attempt, at=at, kind=kind, detail=msgspec.json.decode(detail))
            for number, job, attempt, at, kind, detail in found
        ]

    def links(self, numbers: Iterable[int]) -> dict[int, list[Link]]:
        """The links of each job that has some, sorted by address."""
        found = self._connection.execute(
            "SELECT job, kind, url FROM links WHERE job IN (SELECT value FROM json_each(?)) ORDER BY job, url",
            (msgspec.json.encode(list(numbers)).decode(),),
        )
        links: dict[int, list[Link]] = {}
        for job, kind, url in found:
            links.setdefault(job, []).append(Link(job, kind, url))
        return links

    def attempts(self, job: int) -> list[rows.StoredAttempt]:
        """The attempts of a job that have ended, the first one first."""
        found = self._connection.execute(
            f"SELECT {rows.ATTEMPT_COLUMNS} FROM attempts WHERE job = ? ORDER BY attempt", (job,)
        )
        return [rows.attempt_of(row) for row in found]

    def node_of_attempt(self, job: int, attempt: int) -> NodeName | None:
        """Where the story says that this attempt was started; None if it does not say."""
        row = self._connection.execute(
            "SELECT json_extract(detail, '$.node') AS node FROM events"
            " WHERE job = ? AND attempt = ? AND node IS NOT NULL ORDER BY id DESC LIMIT 1",
            (job, attempt),
        ).fetchone()
        return None if row is None else NodeName(row[0])

    def nodes_of_attempts(self, attempts: Mapping[int, int]) -> dict[int, NodeName]:
        """As `node_of_attempt`, for many jobs with one query. By job, as far as the story says it."""
        found = self._connection.execute(
            "SELECT events.job, json_extract(detail, '$.node') AS node FROM json_each(?) AS asked"
            " JOIN events ON events.job = CAST(asked.key AS INTEGER) AND attempt = asked.value"
            " WHERE node IS NOT NULL ORDER BY events.id",
            (msgspec.json.encode(attempts).decode(),),
        )
        return {job: NodeName(node) for job, node in found}

    def jobs_changed_after(self, event: int, limit: int) -> list[tuple[int, int]]:
        """(newest event, job) of each job that changed after `event`, oldest first."""
        found = self._connection.execute(
            "SELECT max(id), job FROM events WHERE id > ? GROUP BY job ORDER BY 1 LIMIT ?", (event, limit)
        )
        return [(row[0], row[1]) for row in found]

    def submission(self, owner: str, token: str) -> range | None:
        row = self._connection.execute(
            "SELECT first_id, count FROM submissions WHERE owner = ? AND token = ?", (owner, token)
        ).fetchone()
        return None if row is None else range(row[0], row[0] + row[1])

    def kept_answer(self, owner: str, key: str) -> bytes | None:
        row = self._connection.execute(
            "SELECT answer FROM answers WHERE owner = ? AND key = ?", (owner, key)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def templates(self, owner: str) -> list[templates.StoredTemplate]:
        return templates.read(self._connection, owner)

    def environment(self, digest: str) -> dict[str, str]:
        """All variables, with secrets: for the start of a job. Raises SecretsMissing."""
        row = self._connection.execute("SELECT body, secrets FROM environments WHERE hash = ?", (digest,)).fetchone()
        if row is None:
            raise SecretsMissing(f"environment {digest} is not in the database")
        secrets = None if row[1] is None else self._secrets.read(row[1])
        try:
            return environments.whole(row[0], secrets)
        except (ValueError, msgspec.DecodeError) as error:
            raise SecretsMissing(str(error)) from None

    def fingerprint(self, job: int) -> fingerprints.FingerprintRecord | None:
        """The Python and the packages that its latest attempt was started with, as far as they were stored."""
        return fingerprints.of_job(self._connection, job)

    def public_environment(self, digest: str) -> environments.PublicVariables:
        """For people, exports and backups: all names, and None in place of the value of a secret."""
        row = self._connection.execute("SELECT body FROM environments WHERE hash = ?", (digest,)).fetchone()
        return {} if row is None else environments.public_part(row[0])


def _conditions(wanted: JobFilter) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    if wanted.ids is not None:
        among, edges = _among(wanted.ids)
        where.append(among)
        values += edges
    where += _of_states(wanted)
    values += wanted.states
    if wanted.group is not None:
        where.append("id BETWEEN ? AND ? AND group_id = ?")
        values += [wanted.group.start, wanted.group.stop - 1, wanted.group.start]
    if wanted.is_alone:
        where.append("group_id IS NULL")
    if wanted.owner is not None:
        where.append("owner = ?")
        values.append(wanted.owner)
    if wanted.other_than is not None:
        where.append("owner != ?")
        values.append(wanted.other_than)
    if wanted.name is not None:
        where.append("name GLOB ?")
        values.append(wanted.name)
    if wanted.node is not None:
        where.append("json_extract(status, '$.booking.node') = ?")
        values.append(wanted.node)
    if wanted.tag is not None:
        where.append("EXISTS (SELECT 1 FROM json_each(spec, '$.tags') WHERE value = ?)")
        values.append(wanted.tag)
    return where, values


def _of_states(wanted: JobFilter) -> list[str]:
    """Literals let SQLite use partial indexes."""
    either = [f"state IN ({', '.join('?' for _ in wanted.states)})"] if wanted.states else []
    known: list[str] = []
    if wanted.is_live is not None:
        either.append(f"is_live = {int(wanted.is_live)}")
    elif wanted.states and all(state in AT_WORK for state in wanted.states):
        known = [IS_AT_WORK]
    elif wanted.states and all(state in LIVE for state in wanted.states):
        known = ["is_live = 1"]
    return [*known, f"({' OR '.join(either)})"] if either else known


def _among(spans: tuple[range, ...]) -> tuple[str, list[Any]]:
    """A few ranges become plain conditions, so that a page can end early. SQLite rejects a thousand of those."""
    edges = [(span.start, span.stop - 1) for span in spans]
    if len(edges) <= 100:
        either = " OR ".join("id BETWEEN ? AND ?" for _ in edges)
        return f"({either or '0'})", [edge for pair in edges for edge in pair]
    return (
        "id IN (SELECT one.id FROM json_each(?) AS span CROSS JOIN jobs AS one"
        " ON one.id BETWEEN json_extract(span.value, '$[0]') AND json_extract(span.value, '$[1]'))"
    ), [msgspec.json.encode(edges).decode()]
