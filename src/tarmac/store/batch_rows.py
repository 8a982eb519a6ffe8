"""Writes a batch, in one transaction."""

from __future__ import annotations

import sqlite3
from dataclasses import astuple
from typing import TYPE_CHECKING

import msgspec

from tarmac.shared import crashpoint
from tarmac.store import groups, node_hours, outbox, rows, templates
from tarmac.store.accounts import (
    add_accounts,
    add_usage,
    forget_old_peaks,
    remember_peaks,
)
from tarmac.store.batch import Batch, KeptAnswer
from tarmac.store.database.connections import transaction
from tarmac.store.environments import environments, fingerprints
from tarmac.store.history import incoming

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.changes import Changes
    from tarmac.core.model.ids import JobId


KEEP_ANSWERS_S = 86400.0  # far longer than a client repeats a request

_LISTED = "(SELECT value FROM json_each(?))"


def write(connection: sqlite3.Connection, batch: Batch) -> list[str]:
    """Returns the files of secrets that nothing refers to now."""
    with transaction(connection):
        unused = _write_all(connection, batch)
        crashpoint.reach("controller:in-commit")
    return unused


def _write_all(connection: sqlite3.Connection, batch: Batch) -> list[str]:
    changes = batch.changes
    left: set[str] = set()  # environments that a job may have been the last one to refer to
    if batch.environments:
        environments.insert(connection, batch.environments)
        left |= _environments_of(connection, _listed(changes.edited))
    _write_jobs(connection, batch)
    connection.executemany(
        "INSERT INTO events (job, attempt, at, kind, detail) VALUES (?, ?, ?, ?, ?)", map(rows.event_row, changes.story)
    )
    _write_attempts(connection, batch)
    if batch.links:
        # A job may have been removed since its log was looked at.
        connection.executemany(
            "INSERT OR IGNORE INTO links (job, kind, url) SELECT ?1, ?2, ?3"
            " WHERE EXISTS (SELECT 1 FROM jobs WHERE id = ?1)",
            batch.links,
        )
    connection.executemany(
        "INSERT INTO submissions (owner, token, first_id, count, at) VALUES (?, ?, ?, ?, ?)",
        [(one.owner, one.token, one.first_id, one.count, one.at) for one in batch.submissions],
    )
    _write_answers(connection, batch.kept_answers)
    connection.executemany(
        "INSERT OR REPLACE INTO gpus (node, uuid, drain, slots) VALUES (?, ?, ?, ?)",
        [rows.gpu_row(*key, *value) for key, value in changes.gpus.items()],
    )
    _write_node_drains(connection, changes)
    _write_queue(connection, changes)
    _write_settings(connection, batch.settings)
    templates.write(connection, batch.templates)
    add_usage(connection, batch.usage)
    add_accounts(connection, batch.accounts)
    remember_peaks(connection, batch.peaks)
    connection.executemany("INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, ?)", map(astuple, batch.samples))
    connection.executemany(
        "INSERT OR REPLACE INTO memory_samples VALUES (?, ?, ?, ?)", map(astuple, batch.memory_samples)
    )
    if batch.samples_from is not None:
        connection.execute("DELETE FROM samples WHERE at < ?", (batch.samples_from,))
        connection.execute("DELETE FROM memory_samples WHERE at < ?", (batch.samples_from,))
        forget_old_peaks(connection)
    node_hours.add(connection, batch.hours)
    fingerprints.write(connection, batch.fingerprints)
    if batch.outbox:
        outbox.write(connection, batch.outbox)
    if batch.removed:
        left |= _remove(connection, batch.removed)
    return environments.remove(connection, left) if left else []


def _write_jobs(connection: sqlite3.Connection, batch: Batch) -> None:
    """New and imported jobs with their groups, then what changed about the others."""
    changes = batch.changes
    if changes.new:
        connection.executemany(
            "INSERT INTO jobs"
            " (id, owner, name, state, is_live, attempt, position, submitted_at, group_id, array_index, spec, status)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            map(rows.new_job_row, changes.new),
        )
        connection.executemany(
            "INSERT INTO events (job, attempt, at, kind, detail) VALUES (?, 0, ?, 'JobSubmitted', '{}')",
            [(job.id, job.submitted_at) for job in changes.new],
        )
        groups.add(connection, batch.groups, changes.new)
    groups.rewrite(connection, batch.regrouped)
    if batch.imported:
        incoming.insert(connection, batch.imported)
        incoming.give_out(connection, batch.ids_upto)
    new = {job.id for job in changes.new} if changes.changed or changes.edited else set()
    connection.executemany(
        "UPDATE jobs SET state = ?, is_live = ?, attempt = ?, position = ?, retried = ?, ooms = ?, status = ?"
        " WHERE id = ?",
        [rows.changed_job_row(job) for number, job in changes.changed.items() if number not in new],
    )
    connection.executemany(
        "UPDATE jobs SET name = ?, spec = ? WHERE id = ?",
        [
            *(rows.edited_job_row(changes.changed[number]) for number in sorted(changes.edited) if number not in new),
            *(rows.edited_job_row(job) for number, job in changes.relabelled.items() if number not in changes.edited),
        ],
    )


def _write_attempts(connection: sqlite3.Connection, batch: Batch) -> None:
    if batch.changes.attempts:
        usage = batch.usage_of_attempts
        connection.executemany(
            f"INSERT OR REPLACE INTO attempts ({rows.ATTEMPT_COLUMNS}) VALUES ({', '.join('?' * 18)})",
            [rows.attempt_row(attempt, usage.get((attempt.job, attempt.number))) for attempt in batch.changes.attempts],
        )


def _environments_of(connection: sqlite3.Connection, listed: str) -> set[str]:
    found = connection.execute(f"SELECT DISTINCT {rows.ENVIRONMENT_OF_JOB} FROM jobs WHERE id IN {_LISTED}", (listed,))
    return {row[0] for row in found} - {None}


def _remove(connection: sqlite3.Connection, numbers: list[JobId]) -> set[str]:
    """Delete jobs. Returns the environments that they referred to."""
    outbox.remove_failed(connection, numbers)
    listed = _listed(numbers)
    digests = _environments_of(connection, listed)
    for table in ("links", "usage", "attempts", "events", "memory_samples"):
        connection.execute(f"DELETE FROM {table} WHERE job IN {_LISTED}", (listed,))
    connection.execute(f"DELETE FROM jobs WHERE id IN {_LISTED}", (listed,))
    return digests


def _listed(numbers: Iterable[JobId]) -> str:
    """One value for all ids. A statement for each job takes three times as long."""
    return msgspec.json.encode(list(numbers)).decode()


def _write_answers(connection: sqlite3.Connection, kept: list[KeptAnswer]) -> None:
    if kept:
        connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", map(astuple, kept))
        connection.execute("DELETE FROM answers WHERE at < ?", (kept[-1].at - KEEP_ANSWERS_S,))


def _write_node_drains(connection: sqlite3.Connection, changes: Changes) -> None:
    for node, drain in changes.node_drains.items():
        if drain is None:
            connection.execute("DELETE FROM node_drains WHERE node = ?", (node,))
        else:
            values = (node, rows.node_drain_text(drain))
            connection.execute("INSERT OR REPLACE INTO node_drains VALUES (?, ?)", values)


def _write_queue(connection: sqlite3.Connection, changes: Changes) -> None:
    """The mode of the queue, suspended owners, reservations, and GPU hours."""
    if changes.mode is not None:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('mode', ?)", (rows.mode_text(changes.mode),))
    for owner, suspension in changes.suspended.items():
        if suspension is None:
            connection.execute("DELETE FROM suspensions WHERE owner = ?", (owner,))
        else:
            values = (owner, rows.suspension_text(suspension))
            connection.execute("INSERT OR REPLACE INTO suspensions VALUES (?, ?)", values)
    for number, reservation in changes.reservations.items():
        if reservation is None:
            connection.execute("DELETE FROM reservations WHERE id = ?", (number,))
        else:
            body = rows.reservation_text(reservation)
            connection.execute("INSERT OR REPLACE INTO reservations VALUES (?, ?)", (number, body))
    connection.executemany(
        "INSERT INTO gpu_hours VALUES (?, ?, ?, ?)"
        " ON CONFLICT (hour, owner, project) DO UPDATE SET gpu_s = gpu_s + excluded.gpu_s",
        [(*key, gpu_s) for key, gpu_s in changes.hours.items()],
    )


def _write_settings(connection: sqlite3.Connection, settings: dict[str, str | None]) -> None:
    for name, value in settings.items():
        if value is None:
            connection.execute("DELETE FROM settings WHERE name = ?", (name,))
        else:
            connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
