"""The index of ended jobs, in a file beside the database: what `tarmac history` lists and searches.

It is derived from the database: nothing is lost with it, and it is built again if it is damaged or missing. Ends cost
nothing more in the commit that stores them. The index follows by the ids of their events, when it is asked or when the
controller is quiet. It is built from the newest job to the oldest, so that the newest ones are found at once.

A place is a number that is higher for jobs that ended later. SQLite's FTS5 with its trigram tokenizer answers searches;
where it is missing, all texts are scanned.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from tarmac.store.database.connections import transaction
from tarmac.store.database.database import quoted
from tarmac.store.history.text import JOB_ROW, Indexed, JobRow, Label, indexed, label_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tarmac.core.model.note import Note

VERSION = 2  # of this file; another one is replaced
MIDDLE = 1 << 40  # the index is built downwards from here; later ends are added upwards
EVENTS_AT_ONCE = 2000  # takes a tenth of a second; a search waits that long
MOST_COUNTED = 10_000  # of the events that are left
MANY = 1000
_TABLES = """
    CREATE TABLE history (
        place INTEGER PRIMARY KEY,
        job INTEGER NOT NULL UNIQUE,
        ended_at REAL NOT NULL,
        name TEXT NOT NULL,
        text TEXT NOT NULL          -- folded, with the labels
    );
    CREATE INDEX history_ended ON history (ended_at);
    CREATE TABLE labels (
        code INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        value TEXT NOT NULL,
        UNIQUE (kind, value)
    );
    CREATE TABLE todo (nth INTEGER PRIMARY KEY, job INTEGER NOT NULL);
    CREATE TABLE progress (event INTEGER NOT NULL);
"""
_WORDS = (
    "CREATE VIRTUAL TABLE words USING fts5(text, content='history', content_rowid='place',"
    " tokenize='trigram case_sensitive 1', detail=none, columnsize=0)"
)


class HistoryIndex:
    """Only one thread uses it. The methods raise sqlite3.Error if a file cannot be read or written."""

    def __init__(self, database: Path, words: Callable[[Note], str] = str) -> None:
        self.path = database.with_name("history.db")
        self._database = database
        self._note_words = words
        self._connection: sqlite3.Connection | None = None
        self._attached: tuple[int, int] | None = None  # which file of this name the database was
        self.has_words = has_trigrams()
        self._is_compared = False

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """The connection, with the database attached as `queue`. A damaged index is removed, to be built again."""
        try:
            yield self._opened()
        except sqlite3.DatabaseError as error:
            self.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
                self.discard()
            raise

    def discard(self) -> None:
        """Remove the files. The index is built again when it is next used."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}{suffix}")

    def catch_up(self, most: int) -> int:
        """Index up to `most` jobs, those that changed last first. Returns how many are left, roughly."""
        with self.opened() as connection, transaction(connection):
            left = self._follow(connection)
            if not left:
                left = self._build(connection, most)
        if not left and not self._is_compared:
            self._compare()
        return left

    def forget(self, jobs: Iterable[int]) -> None:
        """Jobs that were removed from the database. If they were most of all, a smaller index is built."""
        numbers = list(jobs)
        with self.opened() as connection:
            half = connection.execute("SELECT count(*) FROM history").fetchone()[0] // 2
            if len(numbers) > max(MANY, half):
                self.discard()
                return
            with transaction(connection):
                self._remove(connection, numbers)

    def label(self, connection: sqlite3.Connection, label: Label) -> str | None:
        """The characters that stand for a label; None if no job ever had it."""
        found = connection.execute("SELECT code FROM labels WHERE kind = ? AND value = ?", label).fetchone()
        return None if found is None else label_text(found[0])

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connected()
            self._attached = None
        info = os.stat(self._database)
        if self._attached != (info.st_dev, info.st_ino):
            if self._attached is not None:
                self._connection.execute("DETACH queue")
            self._connection.execute("ATTACH ? AS queue", (f"file:{quoted(self._database)}?mode=ro",))
            self._attached = (info.st_dev, info.st_ino)
            self._is_compared = False
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        """Refuses nothing: a file that is not an index of this version is replaced."""
        is_usable = self._is_usable()
        if not is_usable:
            self.discard()
        if not self.path.exists():
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        connection = sqlite3.connect(
            f"file:{quoted(self.path)}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_size_limit = 16777216")
            connection.execute("PRAGMA secure_delete = ON")  # nothing of a removed job stays in free pages
            if not is_usable:
                with transaction(connection):
                    for statement in _TABLES.split(";")[:-1]:
                        connection.execute(statement)
                    if self.has_words:
                        connection.execute(_WORDS)
                    connection.execute(f"PRAGMA user_version = {self._version()}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _version(self) -> int:
        """An index with words is of no use to a Python that cannot keep them up to date, and the reverse."""
        return 2 * VERSION + self.has_words

    def _is_usable(self) -> bool:
        if not self.path.is_file() or self.path.is_symlink():
            return False
        try:
            connection = sqlite3.connect(f"file:{quoted(self.path)}?mode=ro", uri=True)
            try:
                version: int = connection.execute("PRAGMA user_version").fetchone()[0]
            finally:
                connection.close()
        except sqlite3.DatabaseError:
            return False
        return version == self._version()

    def _follow(self, connection: sqlite3.Connection) -> int:
        """Index jobs with new events. Returns how many events are left, or at least MOST_COUNTED."""
        last = int(
            connection.execute(
                "SELECT coalesce(max(seq), 0) FROM queue.sqlite_sequence WHERE name = 'events'"
            ).fetchone()[0]
        )
        found = connection.execute("SELECT event FROM progress").fetchone()
        if found is None or found[0] > last:  # a new index, or the database is older than it
            self._begin(connection, last)
            return 0
        seen = int(found[0])
        if last == seen:
            return 0
        # A submit says nothing about ended jobs, and there may be a million at once.
        changed = connection.execute(
            "SELECT id, job FROM queue.events WHERE id > ? AND id <= ? AND kind != 'JobSubmitted' ORDER BY id LIMIT ?",
            (seen, last, EVENTS_AT_ONCE),
        ).fetchall()
        upto = last if len(changed) < EVENTS_AT_ONCE else changed[-1][0]
        self._renew(connection, list({job for _, job in changed}))
        connection.execute("UPDATE progress SET event = ?", (upto,))
        (left,) = connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM queue.events"
            " WHERE id > ? AND id <= ? AND kind != 'JobSubmitted' LIMIT ?)",
            (upto, last, MOST_COUNTED),
        ).fetchone()
        return int(left)

    def _begin(self, connection: sqlite3.Connection, last: int) -> None:
        """Forget everything, and list what is to be indexed, the newest first."""
        for table in ("history", "labels", "todo", "progress"):
            connection.execute(f"DELETE FROM {table}")
        if self.has_words:
            connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        connection.execute("INSERT INTO progress VALUES (?)", (last,))
        connection.execute(
            "INSERT INTO todo (job) SELECT id FROM queue.jobs WHERE is_live = 0"
            " ORDER BY CASE WHEN json_valid(status) THEN json_extract(status, '$.ended_at') END DESC, id DESC"
        )

    def rebuild(self) -> None:
        """Jobs were added that ended long ago: their places are among the others."""
        with self.opened() as connection, transaction(connection):
            connection.execute("DELETE FROM progress")

    def _build(self, connection: sqlite3.Connection, most: int) -> int:
        todo = connection.execute("SELECT nth, job FROM todo ORDER BY nth LIMIT ?", (most,)).fetchall()
        if not todo:
            return 0
        known = self._places(connection, [job for _, job in todo])
        ended = self._ended(connection, [job for _, job in todo if job not in known])
        self._add(connection, {MIDDLE - nth: ended[job] for nth, job in todo if job in ended})
        connection.execute("DELETE FROM todo WHERE nth <= ?", (todo[-1][0],))
        return int(connection.execute("SELECT count(*) FROM todo").fetchone()[0])

    def _renew(self, connection: sqlite3.Connection, jobs: list[int]) -> None:
        """These jobs changed: some have ended, some run again, some were edited after their end."""
        ended, known = self._ended(connection, jobs), self._places(connection, jobs)
        self._remove(connection, known)
        newest = connection.execute("SELECT max(place) FROM history").fetchone()[0]
        newest = max([MIDDLE, newest or 0, *(place for place, _ in known.values())])
        rows: dict[int, Indexed] = {}
        for one in sorted(ended.values(), key=lambda one: (one.ended_at, one.job)):
            place, ended_at = known.get(one.job, (0, None))
            if ended_at != one.ended_at:
                place = newest = newest + 1
            rows[place] = one
        self._add(connection, rows)

    def _ended(self, connection: sqlite3.Connection, jobs: Iterable[int]) -> dict[int, Indexed]:
        found = connection.execute(
            f"SELECT {JOB_ROW} FROM queue.jobs WHERE is_live = 0 AND id IN (SELECT value FROM json_each(?))",
            (_listed(jobs),),
        )
        return {row[0]: indexed(JobRow(*row), self._note_words) for row in found}

    def _places(self, connection: sqlite3.Connection, jobs: Iterable[int]) -> dict[int, tuple[int, float]]:
        found = connection.execute(
            "SELECT job, place, ended_at FROM history WHERE job IN (SELECT value FROM json_each(?))", (_listed(jobs),)
        )
        return {job: (place, ended_at) for job, place, ended_at in found}

    def _add(self, connection: sqlite3.Connection, rows: dict[int, Indexed]) -> None:
        known: dict[Label, str] = {}
        stored = [
            (place, one.job, one.ended_at, one.name, f"{self._labels(connection, one.labels, known)}\n{one.text}\n\n")
            for place, one in sorted(rows.items())
        ]
        connection.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?)", stored)
        if self.has_words:
            connection.executemany(
                "INSERT INTO words (rowid, text) VALUES (?, ?)", [(row[0], row[4]) for row in stored]
            )

    def _labels(self, connection: sqlite3.Connection, labels: list[Label], known: dict[Label, str]) -> str:
        for label in labels:
            if label in known:
                continue
            if (text := self.label(connection, label)) is None:
                code = connection.execute("INSERT INTO labels (kind, value) VALUES (?, ?)", label).lastrowid
                text = label_text(code or 0)
            known[label] = text
        return "\n".join(known[label] for label in labels)

    def _remove(self, connection: sqlite3.Connection, jobs: Iterable[int]) -> None:
        listed = _listed(jobs)
        if self.has_words:
            connection.execute(
                "INSERT INTO words (words, rowid, text) SELECT 'delete', place, text FROM history"
                " WHERE job IN (SELECT value FROM json_each(?))",
                (listed,),
            )
        connection.execute("DELETE FROM history WHERE job IN (SELECT value FROM json_each(?))", (listed,))

    def _compare(self) -> None:
        """Once per start: a crash may have come between the removal of jobs and their removal from the index."""
        with self.opened() as connection, transaction(connection):
            if self._follow(connection):
                return  # the next time
            mine = connection.execute("SELECT count(*) FROM history").fetchone()[0]
            theirs = connection.execute("SELECT count(*) FROM queue.jobs WHERE is_live = 0").fetchone()[0]
            if mine != theirs:
                gone = connection.execute(
                    "SELECT job FROM history WHERE job NOT IN (SELECT id FROM queue.jobs WHERE is_live = 0)"
                ).fetchall()
                self._remove(connection, [row[0] for row in gone])
                if mine - len(gone) != theirs:
                    connection.execute("DELETE FROM progress")
        self._is_compared = True


def has_trigrams() -> bool:
    """SQLite has the tokenizer since 3.34, if it was built with FTS5."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text, tokenize='trigram')")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


def _listed(numbers: Iterable[int]) -> str:
    return msgspec.json.encode(list(numbers)).decode()
