"""Fingerprints are stored once each, and go with the last job that has them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tarmac.core.changes import Changes
from tarmac.core.model.ids import JobId
from tarmac.store.batch import Batch
from tarmac.store.environments.fingerprints import Fingerprint, FingerprintRecord, TakenFingerprint
from tarmac.store.store import Store
from tests.core.support.builders import a_job, a_status
from tests.store.kept import commit, new, removed

ONE = Fingerprint(python="/v/bin/python", version="3.11.7", packages={"torch": "2.3.0", "numpy": "1.26"})
TWO = Fingerprint(python="/v/bin/python", version="3.11.7", packages={"torch": "2.4.1"})


def taken(*pairs: tuple[int, int, Fingerprint]) -> Batch:
    return Batch(
        changes=Changes(), fingerprints=[TakenFingerprint(JobId(job), attempt, found) for job, attempt, found in pairs]
    )


def record(attempt: int, fingerprint: Fingerprint) -> FingerprintRecord:
    return FingerprintRecord(attempt=attempt, fingerprint=fingerprint)


def count(path: Path, table: str) -> int:
    looking = sqlite3.connect(path)
    try:
        return int(looking.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        looking.close()


def test_equal_fingerprints_are_stored_once_and_the_latest_attempt_counts(store: Store, path: Path) -> None:
    commit(store, new(*(a_job(number, status=a_status("succeeded")) for number in (1, 2, 3))))
    commit(store, taken((1, 1, ONE), (2, 1, ONE), (99, 1, TWO)))
    assert [store.reader.fingerprint(job) for job in (1, 3, 99)] == [record(1, ONE), None, None]
    assert (count(path, "fingerprints"), count(path, "job_fingerprints")) == (1, 2)
    commit(store, taken((1, 2, TWO)))
    assert [store.reader.fingerprint(job) for job in (1, 2)] == [record(2, TWO), record(1, ONE)]
    commit(store, removed(2))
    assert count(path, "fingerprints") == 1
    commit(store, removed(1))
    assert (count(path, "fingerprints"), count(path, "job_fingerprints")) == (0, 0)
