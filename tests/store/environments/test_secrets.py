"""Secrets of environments are kept apart from the database, and those of a removed job stay nowhere."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import msgspec
import pytest

from tarmac.core.model.job import Job
from tarmac.refusal import Refused
from tarmac.store import rows
from tarmac.store.environments.secret_files import SecretsMissing
from tarmac.store.store import Store
from tests.core.support.builders import a_job, a_status
from tests.store.kept import commit, new, opened, removed
from tests.store.write_schema import FOLDER

SECRET = "hunter2-" * 40
VARIABLES = {"PATH": "/bin", "HF_TOKEN": SECRET}


def a_job_with(number: int, digest: str) -> Job:
    job = a_job(number, status=a_status("succeeded"))
    return replace(job, spec=replace(job.spec, environment=digest, command=("echo", SECRET)))


def an_ended(number: int, digest: str) -> Job:
    job = a_job(number, status=a_status("succeeded"))
    return replace(job, spec=replace(job.spec, environment=digest))


def is_anywhere(path: Path, data: bytes) -> bool:
    """In the database, its WAL file, or any other file beside it or below."""
    return any(data in file.read_bytes() for file in path.parent.rglob("*") if file.is_file())


def is_in_database(path: Path, data: bytes) -> bool:
    return any(data in file.read_bytes() for file in path.parent.iterdir() if file.is_file())


def secret_files(path: Path) -> list[Path]:
    return sorted(file for file in (path.parent / "secrets").iterdir() if file.name != "key")


# Kept apart


def test_secrets_are_in_a_file_of_their_own_and_not_in_the_database(store: Store, path: Path) -> None:
    digest, stored = store.pack_environment(VARIABLES)
    commit(store, new(an_ended(1, digest), environments={digest: stored}))
    assert not is_in_database(path, SECRET.encode())
    [file] = secret_files(path)
    assert SECRET in file.read_text()
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (file.parent, file, file.parent / "key")]
    assert modes == [0o700, 0o600, 0o600]
    assert store.reader.environment(digest) == VARIABLES
    assert store.reader.public_environment(digest) == {"PATH": "/bin", "HF_TOKEN": None}


def test_the_mode_does_not_depend_on_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        with opened(path) as store:
            digest, stored = store.pack_environment(VARIABLES)
            commit(store, new(an_ended(1, digest), environments={digest: stored}))
        assert stat.S_IMODE(secret_files(path)[0].stat().st_mode) == 0o600
        assert stat.S_IMODE((path.parent / "secrets").stat().st_mode) == 0o700
    finally:
        os.umask(before)


def test_equal_secrets_are_written_once_even_in_different_environments(store: Store, path: Path) -> None:
    for number in (1, 2, 3):
        digest, stored = store.pack_environment({**VARIABLES, "SEED": str(number)})
        commit(store, new(an_ended(number, digest), environments={digest: stored}))
        if number == 1:
            [first] = secret_files(path)
            written = first.stat()
    [file] = secret_files(path)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)


def test_neither_a_name_nor_a_hash_lets_a_secret_be_guessed(tmp_path: Path) -> None:
    """The same short secret has other names and hashes in another state directory."""
    seen = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name / "tarmac.db") as store:
            digest, stored = store.pack_environment({"PIN_PASSWORD": "1234"})
            assert stored.secrets is not None
            seen.append((digest, stored.secrets.name))
            again = store.pack_environment({"PIN_PASSWORD": "1234"})
            assert again == (digest, stored)
        with opened(tmp_path / name / "tarmac.db") as store:
            assert store.pack_environment({"PIN_PASSWORD": "1234"}).digest == digest, "the key is kept"
    assert seen[0][0] != seen[1][0]
    assert seen[0][1] != seen[1][1]
    plain = msgspec.json.encode([("PIN_PASSWORD", "1234")])
    assert blake2b(plain, digest_size=16).hexdigest() not in {text for pair in seen for text in pair}


def test_without_secrets_nothing_is_written_beside_the_database(store: Store, path: Path) -> None:
    digest, stored = store.pack_environment({"PATH": "/bin", "TOKENIZERS_PARALLELISM": "false"})
    commit(store, new(an_ended(1, digest), environments={digest: stored}))
    assert not (path.parent / "secrets").exists()


def test_missing_or_damaged_secrets_are_noticed(store: Store, path: Path) -> None:
    digest, stored = store.pack_environment(VARIABLES)
    commit(store, new(an_ended(1, digest), environments={digest: stored}))
    [file] = secret_files(path)
    for content in (b"", b"[]", b"not JSON", None):
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        with pytest.raises(SecretsMissing) as caught:
            store.reader.environment(digest)
        assert SECRET not in str(caught.value)
    assert store.reader.public_environment(digest)["HF_TOKEN"] is None
    commit(store, new(an_ended(2, digest), environments={digest: stored}))
    assert store.reader.environment(digest) == VARIABLES, "the next submit brings them back"


def test_a_commit_whose_secrets_cannot_be_written_is_refused(store: Store, path: Path) -> None:
    digest, stored = store.pack_environment(VARIABLES)
    shutil.rmtree(path.parent / "secrets")
    (path.parent / "secrets").write_text("in the way")
    with pytest.raises(Refused, match=r"store\.cannot_write"):
        commit(store, new(an_ended(1, digest), environments={digest: stored}))
    assert store.reader.job(1) is None


# Removed


def test_an_environment_is_deleted_with_the_last_job_that_refers_to_it(store: Store, path: Path) -> None:
    digest, stored = store.pack_environment(VARIABLES)
    commit(store, new(a_job_with(1, digest), a_job_with(2, digest), environments={digest: stored}))
    commit(store, removed(1))
    assert store.reader.environment(digest) == VARIABLES
    assert is_anywhere(path, stored.body)
    assert is_anywhere(path, SECRET.encode())
    commit(store, removed(2))
    assert not is_anywhere(path, stored.body)
    assert not is_anywhere(path, SECRET.encode())
    assert secret_files(path) == []


def test_secrets_stay_while_another_environment_has_them(store: Store, path: Path) -> None:
    packed = [store.pack_environment({**VARIABLES, "SEED": seed}) for seed in "12"]
    for number, (digest, stored) in enumerate(packed, 1):
        commit(store, new(an_ended(number, digest), environments={digest: stored}))
    commit(store, removed(1))
    assert store.reader.environment(packed[1].digest)["HF_TOKEN"] == SECRET
    commit(store, removed(2))
    assert secret_files(path) == []


def test_an_environment_that_is_used_again_at_once_is_kept(store: Store) -> None:
    digest, stored = store.pack_environment(VARIABLES)
    commit(store, new(a_job_with(1, digest), environments={digest: stored}))
    batch = removed(1)
    batch.changes.new.append(a_job_with(2, digest))
    batch.environments[digest] = stored
    commit(store, batch)
    assert store.reader.environment(digest) == VARIABLES


def test_the_environment_that_an_edit_replaced_is_deleted(store: Store, path: Path) -> None:
    old, new_one = store.pack_environment(VARIABLES), store.pack_environment({"API_KEY": "other"})
    job = a_job(1)
    job = replace(job, spec=replace(job.spec, environment=old.digest))
    commit(store, new(job, environments={old.digest: old.stored}))
    batch = new(environments={new_one.digest: new_one.stored})
    batch.changes.changed[job.id] = replace(job, spec=replace(job.spec, environment=new_one.digest))
    batch.changes.edited.add(job.id)
    commit(store, batch)
    assert store.reader.environment(new_one.digest) == {"API_KEY": "other"}
    assert len(secret_files(path)) == 1
    assert not is_anywhere(path, SECRET.encode())


def test_the_log_is_emptied_later_if_a_reader_is_in_the_way(store: Store, path: Path) -> None:
    digest, stored = store.pack_environment(VARIABLES)
    commit(store, new(a_job_with(1, digest), environments={digest: stored}))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM jobs").fetchone()
    commit(store, removed(1))
    assert is_anywhere(path, stored.body)
    reader.close()
    commit(store, new(a_job(2)))
    assert not is_anywhere(path, stored.body)


def test_what_a_killed_controller_had_removed_is_not_found_after_the_next_commit(path: Path) -> None:
    with opened(path) as store:
        digest, stored = store.pack_environment(VARIABLES)
        commit(store, new(a_job_with(1, digest), environments={digest: stored}))
        before = Path(f"{path}-wal").read_bytes()
        commit(store, removed(1))
        copy = path.parent / "copy"
        copy.mkdir()
        shutil.copy(path, copy / path.name)
    (copy / f"{path.name}-wal").write_bytes(before)
    with opened(copy / path.name) as store:
        commit(store, new(a_job(3)))
        assert not any(stored.body in file.read_bytes() for file in copy.iterdir() if file.name.endswith("-wal"))


# Crashes

CRASHER = """
import sys
from dataclasses import replace
from pathlib import Path
from tarmac.store.store import Store
from tests.store.kept import commit, new, removed
from tests.store.environments.test_secrets import VARIABLES, an_ended
store = Store(Path(sys.argv[1]))
digest, stored = store.pack_environment(VARIABLES)
commit(store, new(an_ended(1, digest), environments={digest: stored}))
print("added", flush=True)
commit(store, removed(1))
"""


@pytest.mark.parametrize(
    ("point", "was_added", "is_there"),
    [
        ("store:after-secrets", False, False),
        ("controller:in-commit", False, False),
        ("controller:after-commit", False, True),
        ("controller:in-commit@2", True, True),
        ("store:before-forget-secrets", True, False),
        ("controller:after-commit@2", True, False),
    ],
)
def test_after_a_crash_the_secrets_are_exactly_those_of_the_jobs(
    path: Path, point: str, was_added: bool, is_there: bool
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASHER, str(path)],
        env={**os.environ, "TARMAC_CRASH_AT": point},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    assert (done.stdout == "added\n") == was_added
    with opened(path) as store:
        job = store.reader.job(1)
        assert (job is not None) == is_there
        assert len(secret_files(path)) == is_there
        assert is_anywhere(path, SECRET.encode()) == is_there
        if job is not None:
            assert store.reader.environment(job.spec.environment) == VARIABLES


def test_what_a_crash_left_half_written_is_deleted(path: Path) -> None:
    with opened(path) as store:
        digest, stored = store.pack_environment(VARIABLES)
        commit(store, new(an_ended(1, digest), environments={digest: stored}))
    (path.parent / "secrets" / "0123.new").write_text(SECRET)
    (path.parent / "secrets" / "0123").write_text(SECRET)
    with opened(path) as store:
        assert len(secret_files(path)) == 1
        assert store.reader.environment(digest) == VARIABLES


# Earlier versions


def an_old_environment(variables: dict[str, str]) -> tuple[str, bytes]:
    """As versions before 8 stored it."""
    import zlib

    body = msgspec.json.encode(sorted(variables.items()))
    return blake2b(body, digest_size=16).hexdigest(), zlib.compress(body, 0)


def test_the_migration_moves_secrets_out_of_the_database(path: Path) -> None:
    shutil.copy(FOLDER / "v7.db", path)
    digest, body = an_old_environment(VARIABLES)
    public, public_body = an_old_environment({"PATH": "/bin"})
    old = sqlite3.connect(path)
    old.executemany(
        "INSERT INTO environments VALUES (?, ?)", [(digest, body), (public, public_body), ("x", b"damaged")]
    )
    old.execute("UPDATE jobs SET spec = json_set(spec, '$.environment', ?) WHERE id IN (1, 7)", (digest,))
    old.execute("UPDATE jobs SET spec = json_set(spec, '$.environment', ?) WHERE id = 8", (public,))
    old.commit()
    old.close()
    assert is_in_database(path, SECRET.encode())
    for _ in range(2):
        with opened(path) as store:
            assert not is_in_database(path, SECRET.encode())
            assert not is_in_database(path, digest.encode()), "the old hash can be compared with a guess"
            one, seven, eight = (store.reader.jobs([1, 7, 8])[number].spec.environment for number in (1, 7, 8))
            assert one == seven == store.pack_environment(VARIABLES).digest
            assert store.reader.environment(one) == VARIABLES
            assert (eight, store.reader.environment(eight)) == (public, {"PATH": "/bin"})
            assert store.load().next_id > 7


@pytest.mark.parametrize("spec", [None, "not JSON", "{}"])
def test_environments_that_earlier_versions_left_are_deleted(path: Path, spec: str | None) -> None:
    """Also if a job of the database is damaged."""
    shutil.copy(FOLDER / "v5.db", path)
    digest, body = an_old_environment({"TOKEN": SECRET})
    old = sqlite3.connect(path)
    if spec is not None:
        old.execute("UPDATE jobs SET spec = ? WHERE id = 7", (spec,))
    old.execute("INSERT INTO environments VALUES (?, ?)", (digest, body))
    old.commit()
    old.close()
    assert is_anywhere(path, SECRET.encode())
    with opened(path) as store:
        commit(store, new(a_job(99)))
        assert not is_anywhere(path, SECRET.encode())


def test_a_new_database_leaves_the_secrets_of_the_one_that_was_moved_away(path: Path) -> None:
    with opened(path) as store:
        digest, stored = store.pack_environment(VARIABLES)
        commit(store, new(an_ended(1, digest), environments={digest: stored}))
    moved = path.with_name("moved.db")
    path.rename(moved)
    for _ in range(2):
        with opened(path):
            pass
    moved.replace(path)
    with opened(path):
        (file,) = [file for file in secret_files(path) if file.is_file()]
    assert SECRET.encode() in file.read_bytes()


# Speed


def test_the_jobs_of_an_environment_are_found_without_reading_all_jobs(store: Store, path: Path) -> None:
    reader = sqlite3.connect(path)
    plan = reader.execute(f"EXPLAIN QUERY PLAN SELECT 1 FROM jobs WHERE {rows.ENVIRONMENT_OF_JOB} = 'x'").fetchall()
    reader.close()
    assert "jobs_environment" in str(plan)


def test_commits_do_not_wait_for_a_program_that_reads(store: Store, path: Path) -> None:
    """Such as a shell of sqlite3 that a user left open. Each wait would take SQLite's 5 s."""
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM jobs").fetchone()
    began = time.monotonic()
    for number in range(1, 7):
        commit(store, new(a_job(number, status=a_status("succeeded"))))
        commit(store, removed(number))
    assert time.monotonic() - began < 20
    reader.close()
