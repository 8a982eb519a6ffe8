"""The Python and the packages that jobs were started with: each distinct fingerprint once."""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from tarmac.core.model.ids import JobId


class Fingerprint(msgspec.Struct, kw_only=True, frozen=True):
    python: str  # its path
    version: str
    packages: dict[str, str]  # name → version


class TakenFingerprint(NamedTuple):
    job: JobId
    attempt: int
    fingerprint: Fingerprint


class FingerprintRecord(msgspec.Struct, kw_only=True):
    """That of a job, as it is stored and exported."""

    attempt: int
    fingerprint: Fingerprint


_decoder = msgspec.json.Decoder(Fingerprint)


def write(connection: sqlite3.Connection, taken: Sequence[TakenFingerprint]) -> None:
    """That of the latest attempt stays. A job that was removed meanwhile gets none."""
    for one in taken:
        body = msgspec.json.encode(one.fingerprint)
        digest = blake2b(body, digest_size=16).hexdigest()
        is_new = connection.execute(
            "INSERT OR REPLACE INTO job_fingerprints SELECT id, ?, ? FROM jobs WHERE id = ?",
            (one.attempt, digest, one.job),
        ).rowcount
        if is_new:
            connection.execute("INSERT OR IGNORE INTO fingerprints VALUES (?, ?)", (digest, zlib.compress(body)))


def of_job(connection: sqlite3.Connection, job: int) -> FingerprintRecord | None:
    row = connection.execute(
        "SELECT attempt, body FROM job_fingerprints JOIN fingerprints USING (hash) WHERE job = ?", (job,)
    ).fetchone()
    if row is None:
        return None
    attempt, body = row
    return FingerprintRecord(attempt=attempt, fingerprint=_decoder.decode(zlib.decompress(body)))


def of_jobs(connection: sqlite3.Connection, listed: str) -> dict[int, FingerprintRecord]:
    """`listed` is a JSON list of ids."""
    found = connection.execute(
        "SELECT job, attempt, hash FROM job_fingerprints WHERE job IN (SELECT value FROM json_each(?))", (listed,)
    ).fetchall()
    bodies = {digest: _body(connection, digest) for digest in {row[2] for row in found}}
    return {job: FingerprintRecord(attempt=attempt, fingerprint=bodies[digest]) for job, attempt, digest in found}


def _body(connection: sqlite3.Connection, digest: str) -> Fingerprint:
    (body,) = connection.execute("SELECT body FROM fingerprints WHERE hash = ?", (digest,)).fetchone()
    return _decoder.decode(zlib.decompress(body))
