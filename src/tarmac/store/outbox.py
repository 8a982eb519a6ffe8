"""Notifications that are to be sent, or could not be sent: written in the commit of the event that they report.

A notification is deleted once it was sent. If it cannot be sent for a day, it stays for a week, so that people see it.
"""

from __future__ import annotations

from dataclasses import field
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tarmac.records import dataclass

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

KEEP_FAILED_S = 7 * 86400.0


def new_token() -> str:
    return token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One event for one target."""

    owner: str  # whose target it is; empty: a target for all users
    target: str
    at: float  # of the event
    event: str
    job: int | None
    detail: dict[str, Any]  # what the message is made of
    due_at: float
    token: str = field(default_factory=new_token)  # names it in the journal of the sender, also in another database


class Delayed(NamedTuple):
    """A notification that could not be sent now."""

    token: str
    due_at: float
    error: str
    given_up_at: float | None  # it is not tried again


@dataclass(slots=True)
class OutboxChanges:
    added: list[Notification] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)  # their tokens
    delayed: list[Delayed] = field(default_factory=list)
    given_up_before: float | None = None  # those that were given up earlier are deleted

    def __bool__(self) -> bool:
        return bool(self.added or self.sent or self.delayed or self.given_up_before)

    def add(self, other: OutboxChanges) -> None:
        self.added += other.added
        self.sent += other.sent
        self.delayed += other.delayed
        self.given_up_before = other.given_up_before or self.given_up_before


class Waiting(NamedTuple):
    """A stored notification."""

    token: str
    at: float
    event: str
    job: int | None
    detail: dict[str, Any]
    tries: int


class TargetQueue(NamedTuple):
    """The notifications that wait for one target."""

    owner: str
    target: str
    due_at: float
    tries: int
    waiting: int
    failed: int  # given up
    error: str | None  # of the newest attempt
    first_at: float  # when the oldest of these events happened
    given_up_at: float | None = None  # the first one that was given up


def write(connection: sqlite3.Connection, changes: OutboxChanges) -> None:
    connection.executemany(
        "INSERT INTO outbox (token, owner, target, at, event, job, detail, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (one.token, one.owner, one.target, one.at, one.event, one.job, _text(one.detail), one.due_at)
            for one in changes.added
        ],
    )
    connection.executemany("DELETE FROM outbox WHERE token = ?", [(token,) for token in changes.sent])
    connection.executemany(
        "UPDATE outbox SET tries = tries + 1, due_at = ?, error = ?, given_up_at = ? WHERE token = ?",
        [(one.due_at, one.error, one.given_up_at, one.token) for one in changes.delayed],
    )
    if changes.given_up_before is not None:
        connection.execute("DELETE FROM outbox WHERE given_up_at < ?", (changes.given_up_before,))


def remove_failed(connection: sqlite3.Connection, jobs: Sequence[int]) -> None:
    """Nothing of a removed job stays. What is still to be sent about it is sent, and then gone as well."""
    connection.execute(
        "DELETE FROM outbox WHERE given_up_at IS NOT NULL AND job IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(jobs).decode(),),
    )


def _text(detail: dict[str, Any]) -> str:
    return msgspec.json.encode(detail).decode()


class OutboxReader:
    """`connection` is a function: the store may open another file."""

    def __init__(self, connection: Callable[[], sqlite3.Connection]) -> None:
        self._connection = connection

    def targets(self) -> list[TargetQueue]:
        """Every target with notifications. After a failure, it is due at the next try, even if new ones came since."""
        found = self._connection().execute(
            "SELECT owner, target,"
            " coalesce(min(due_at) FILTER (WHERE tries > 0 AND given_up_at IS NULL),"
            "          min(due_at) FILTER (WHERE given_up_at IS NULL), 0),"
            " coalesce(max(tries) FILTER (WHERE given_up_at IS NULL), 0),"
            " count(*) FILTER (WHERE given_up_at IS NULL), count(*) FILTER (WHERE given_up_at IS NOT NULL),"
            " (SELECT error FROM outbox AS newest WHERE newest.owner = outbox.owner AND newest.target = outbox.target"
            "  AND error IS NOT NULL ORDER BY due_at DESC LIMIT 1), min(at), min(given_up_at)"
            " FROM outbox GROUP BY owner, target ORDER BY owner, target"
        )
        return [TargetQueue(*row) for row in found]

    def waiting(self, owner: str, target: str, limit: int) -> list[Waiting]:
        found = self._connection().execute(
            "SELECT token, at, event, job, detail, tries FROM outbox"
            " WHERE owner = ? AND target = ? AND given_up_at IS NULL ORDER BY id LIMIT ?",
            (owner, target, limit),
        )
        return [
            Waiting(token, at, event, job, msgspec.json.decode(detail), tries)
            for token, at, event, job, detail, tries in found
        ]
