"""Restores a backup into a state directory whose controller is stopped. The old state is kept aside.

Everything is unpacked, verified and prepared beside the old files. Then one rename puts the new database in the place
of the old one: a crash before it changes nothing, and after it everything is done.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.controller.backup.archive import CONFIG, DATABASE, LOGS, SECRETS, SNAPSHOTS, extract
from tarmac.controller.state_directory.state_lock import StateLock
from tarmac.refusal import invalid, unavailable
from tarmac.shared import crashpoint
from tarmac.store.database import schema
from tarmac.store.database.connections import transaction
from tarmac.store.database.database import connect_reader, connect_writer, damage, inspect, quoted
from tarmac.store.database.files import sync
from tarmac.store.environments.secret_files import SecretFiles
from tarmac.store.history.restored import Restored, attach, reconcile
from tarmac.store.snapshots import merge

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNPACKED = ".restore-"
_SIDE_FILES = ("-wal", "-shm")
_INDEX = ("history.db", "history.db-wal", "history.db-shm")


class Result(NamedTuple):
    aside: Path | None  # where the old state is; None: there was none
    held: int
    taken_over: int
    left: list[int]
    config_replaced: bool


def examine(path: Path, state: Path) -> dict[str, Any]:
    """Check a backup completely without changing anything. Returns its manifest."""
    folder = state / f"{_UNPACKED}{os.getpid()}"
    try:
        return _unpack(path, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def restore(path: Path, state: Path, config: Path, *, with_config: bool) -> Result:
    lock = StateLock(state)
    if not lock.take():
        raise unavailable("backup.controller_runs", state=state)
    try:
        return _restored(path, state, config, with_config=with_config)
    finally:
        lock.release()


def _restored(path: Path, state: Path, config: Path, *, with_config: bool) -> Result:
    for left in state.glob(f"{_UNPACKED}*"):
        shutil.rmtree(left, ignore_errors=True)  # by a crash
    folder = state / f"{_UNPACKED}{os.getpid()}"
    try:
        _unpack(path, folder)
        old = _old_copy(state, folder)
        done = _prepare(folder / DATABASE, old)
        aside = _put_aside(state, config)
        crashpoint.reach("keep:restore-aside")
        _install_files(state, folder)
        _install_database(state, folder)
        crashpoint.reach("keep:restore-installed")
        replaced = with_config and _install_config(folder / CONFIG, config)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Result(aside, done.held, done.taken_over, done.left, replaced)


def _unpack(path: Path, folder: Path) -> dict[str, Any]:
    folder.mkdir(mode=0o700)
    manifest = extract(path, folder)
    database = folder / DATABASE
    if not database.exists():
        raise invalid("backup.damaged", path=path, why=DATABASE)
    if manifest.get("schema", 0) > schema.VERSION:
        raise invalid("backup.newer", path=path, version=manifest.get("version"))
    inspect(database)
    try:
        with closing(connect_reader(database)) as connection:
            found = damage(connection)
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found is not None:
        raise invalid("backup.damaged", path=path, why=found)
    crashpoint.reach("keep:restore-unpacked")
    return manifest


def _old_copy(state: Path, folder: Path) -> Path | None:
    """A copy of the database in use, brought up to date; None if there is none, or it cannot be read."""
    source = state / DATABASE
    if not source.exists():
        return None
    copy = folder / "old" / DATABASE
    copy.parent.mkdir(mode=0o700)
    try:
        for suffix in ("", *_SIDE_FILES):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{source}{suffix}", f"{copy}{suffix}")
        with closing(connect_writer(copy, SecretFiles(source))) as connection:
            connection.execute("SELECT count(*) FROM jobs").fetchone()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except Exception:  # noqa: BLE001 - damaged, newer, or of another program: it is kept aside as it is
        return None
    return copy


def _prepare(database: Path, old: Path | None) -> Restored:
    """Migrate the database of the backup, and take over what the old one knows better."""
    connection = connect_writer(database, SecretFiles(database))
    try:
        if old is not None:
            attach(connection, old)
        with transaction(connection):
            done = reconcile(connection, old, time.time())
        if old is not None:
            connection.execute("DETACH newer")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")  # one file, which a rename puts in place
    finally:
        connection.close()
    sync(database)
    return done


def _put_aside(state: Path, config: Path) -> Path | None:
    """Keep the old state. The database stays in its place as well, without a log, so that one rename replaces it."""
    database = state / DATABASE
    if not database.exists():
        return None
    aside = state / f"before-restore-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
    aside.mkdir(mode=0o700)
    for name in (DATABASE, SNAPSHOTS):
        _fold_log(state / name)
        for suffix in ("", *_SIDE_FILES):
            _keep(state / f"{name}{suffix}", aside / f"{name}{suffix}")
    for source in _files(state / SECRETS):
        (aside / SECRETS).mkdir(mode=0o700, exist_ok=True)
        _keep(source, aside / SECRETS / source.name)
    _keep(config, aside / CONFIG)
    sync(aside)
    for suffix in _SIDE_FILES:  # of a database that could not be folded; the copies have everything
        with suppress(FileNotFoundError):
            os.unlink(f"{database}{suffix}")
    return aside


def _fold_log(database: Path) -> None:
    """Write the log into the database, and remove it."""
    with suppress(sqlite3.DatabaseError):
        uri = f"file:{quoted(database)}?mode=rw"  # it may be missing
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _keep(source: Path, target: Path) -> None:
    """A copy that does not change when the source does."""
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        return
    os.chmod(target, 0o600)
    sync(target)


def _install_files(state: Path, folder: Path) -> None:
    """Secrets and logs of the backup that are not there. Their names are unique."""
    for name in (SECRETS, LOGS):
        for source in _files(folder / name):
            (state / name).mkdir(mode=0o700, exist_ok=True)
            target = state / name / source.name
            if not target.exists():
                os.rename(source, target)
        if (state / name).is_dir():
            sync(state / name)
    if (folder / SNAPSHOTS).exists():
        _install_snapshots(state / SNAPSHOTS, folder / SNAPSHOTS)


def _install_snapshots(present: Path, saved: Path) -> None:
    """Jobs that were submitted since the backup, and were taken over, need those of the present file as well."""
    if present.exists() and merge(present, saved):
        return
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            os.unlink(f"{present}{suffix}")
    os.rename(saved, present)


def _install_database(state: Path, folder: Path) -> None:
    for name in _INDEX:  # the controller builds it again
        with suppress(FileNotFoundError):
            os.unlink(state / name)
    os.rename(folder / DATABASE, state / DATABASE)
    sync(state)


def _install_config(source: Path, config: Path) -> bool:
    """False if the file is the same, or the backup has none."""
    if not source.exists() or (config.exists() and config.read_bytes() == source.read_bytes()):
        return False
    config.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = config.with_name(f"{config.name}.new")
    shutil.copyfile(source, new)
    os.chmod(new, 0o600)
    sync(new)
    os.rename(new, config)
    return True


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
