"""Tries in the state directory what the first command would do there, and leaves nothing behind."""

from __future__ import annotations

import os

from tarmac import paths
from tarmac.cli.verbs.admin.doctor.finding import Finding
from tarmac.cli.verbs.admin.doctor.installation import mode_finding
from tarmac.errors import TarmacError
from tarmac.shared.own import strict_modes
from tarmac.shared.system.file_systems import network_file_system
from tarmac.shared.units import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOW_SPACE_BYTES = 1 << 30
NO_SPACE_BYTES = 64 << 20
FEW_FILES = 1000
NAME = "state directory"
_FILES = ("tarmac.db", "tarmac.sock", "controller.log", "controller.lock", "agent/agent.sock", "agent/agent.lock")
_DIRECTORIES = ("agent", "agent/runs", "logs")
ELSEWHERE = "set TARMAC_HOME to a directory on a local disk that you can write to"


def locate_state() -> tuple[str | None, Finding | None]:
    """The state directory, or what keeps it from being known."""
    try:
        return paths.state_folder(), None
    except TarmacError as error:
        return None, Finding("bad", NAME, error.message, error.hint)
    except OSError as error:
        return None, Finding("bad", NAME, f"{paths.wanted_state_folder()}: {error.strerror}", ELSEWHERE)


def check_state(state: str) -> Iterator[Finding]:
    is_missing = not os.path.lexists(state)
    made = _missing_directories(state)
    try:
        try:
            strict_modes.make_directories(state)
            problems = [mode_finding(NAME, problem) for problem in strict_modes.problems_of_state(state)]
        except OSError as error:
            yield Finding("bad", NAME, f"{error.filename or state}: {error.strerror}", ELSEWHERE)
            return
        yield from problems
        failures = list(_failures(state))
        yield from failures
        if not failures and not any(problem.verdict == "bad" for problem in problems):
            yield _place(state, is_missing=is_missing)
        yield from _check_space(state)
    finally:
        for folder in reversed(made):
            _rmdir(folder)


def _place(state: str, *, is_missing: bool) -> Finding:
    kind = network_file_system(state)
    if kind is not None:
        return Finding("bad", NAME, f"{state} is on a network file system ({kind})", "set TARMAC_HOME to a local disk")
    note = paths.moved_note()
    if note is not None:
        return Finding("warning", NAME, note, "set TARMAC_HOME to choose another place")
    return Finding("ok", NAME, f"{state}, {'created by the first command' if is_missing else 'on a local disk'}")


def _failures(state: str) -> Iterator[Finding]:
    """What does not work there."""
    for name in (*_FILES, *_DIRECTORIES):
        path = os.path.join(state, name)
        if os.path.lexists(path) and os.path.isdir(path) != (name in _DIRECTORIES):
            what = "is not a directory" if name in _DIRECTORIES else "is a directory, so it cannot be used as a file"
            yield Finding("bad", NAME, f"{path} {what}", f"move it away: `mv {path} {path}.away`")
        elif os.path.exists(path) and not os.access(path, os.W_OK):
            yield Finding("bad", NAME, f"{path} cannot be written to", f"run `chmod u+w {path}`")
    trial = os.path.join(state, f".doctor-{os.getpid()}")
    for what, attempt in _ATTEMPTS:
        try:
            attempt(trial)
        except Exception as error:  # noqa: BLE001 - whatever it is, a controller would fail as well
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            yield Finding("bad", NAME, f"cannot {what} in {state}: {reason}", ELSEWHERE)
            return  # the others fail for the same reason
        finally:
            _remove(trial)


def _write_file(path: str) -> None:
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        block = b"x" * 65536
        if os.write(descriptor, block) != len(block):
            raise OSError(28, os.strerror(28))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(path, f"{path}.renamed")


def _make_directory(path: str) -> None:
    os.mkdir(path, 0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _listen(path: str) -> None:
    from tarmac.shared.system import sockets

    server = sockets.listen(path)
    try:
        sockets.connect(path).close()
    finally:
        server.close()


def _use_database(path: str) -> None:
    import sqlite3

    writer = sqlite3.connect(path, isolation_level=None)
    try:
        mode = writer.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise OSError(95, f"SQLite cannot use a write-ahead log there (it chose {mode})")
        writer.execute("PRAGMA synchronous = FULL")
        writer.execute("CREATE TABLE trial (value)")
        writer.execute("INSERT INTO trial VALUES (1)")
        reader = sqlite3.connect(path)
        try:
            reader.execute("SELECT value FROM trial").fetchone()
        finally:
            reader.close()
    finally:
        writer.close()


_ATTEMPTS: tuple[tuple[str, Callable[[str], None]], ...] = (
    ("create a directory", _make_directory),
    ("write and lock a file", _write_file),
    ("listen on a socket", _listen),
    ("use a database", _use_database),
)


def _check_space(state: str) -> Iterator[Finding]:
    disk = os.statvfs(state)
    free = disk.f_bavail * disk.f_frsize
    verdict = "bad" if free < NO_SPACE_BYTES else "warning" if free < LOW_SPACE_BYTES else "ok"
    yield Finding(
        verdict,
        "free space",
        f"{size(free)} on the disk of the state directory",
        None if verdict == "ok" else "free some space: without it no job can be accepted, and logs are cut",
    )
    if disk.f_files and disk.f_favail < FEW_FILES:
        text = f"only {disk.f_favail} more files can be created on the disk of the state directory"
        yield Finding("bad", "free space", text, "remove files that are not needed")


def _missing_directories(path: str) -> list[str]:
    """Those that must be created, from the top."""
    found: list[str] = []
    while not os.path.lexists(path):
        found.insert(0, path)
        path = os.path.dirname(path)
    return found


def _remove(trial: str) -> None:
    for suffix in ("", ".new", ".renamed", "-journal", "-wal", "-shm"):
        try:
            os.unlink(trial + suffix)
        except IsADirectoryError:
            _rmdir(trial + suffix)
        except OSError:
            continue


def _rmdir(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # it was never created, or another command uses it by now
