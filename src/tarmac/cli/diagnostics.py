"""The checks of `tarmac doctor`, one function each."""

from __future__ import annotations

import os
import sys

from tarmac import __version__, paths
from tarmac.cli.session import connect
from tarmac.client.transport import NoController
from tarmac.errors import TarmacError
from tarmac.shared.units import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.client import Client
    from tarmac.client.records import Status

LOW_SPACE_BYTES = 1 << 30
NO_SPACE_BYTES = 64 << 20
ANSWER_S = 5  # short: people run this because something hangs


class Finding:
    """`verdict` is ok, warning or bad; `advice` says what to do."""

    __slots__ = ("advice", "name", "text", "verdict")

    def __init__(self, verdict: str, name: str, text: str, advice: str | None = None) -> None:
        self.verdict = verdict
        self.name = name
        self.text = text
        self.advice = advice

    def as_json(self) -> dict[str, str | None]:
        return {"check": self.name, "verdict": self.verdict, "text": self.text, "advice": self.advice}


def examine() -> list[Finding]:
    return [*_installation(), *_config(), *_state_folder(), *_running()]


def _installation() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info < (3, 11)
    yield Finding(
        "bad" if old else "ok",
        "python",
        f"{version} at {sys.executable}",
        "Tarmac needs Python 3.11 or newer" if old else None,
    )
    yield Finding("ok", "tarmac", __version__)


def _config() -> Iterator[Finding]:
    import tomllib

    path = paths.config_path()
    try:
        with open(path, "rb") as file:
            tomllib.load(file)
        yield Finding("ok", "config", path)
    except FileNotFoundError:
        yield Finding("ok", "config", f"none, so defaults apply ({path})")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        yield Finding(
            "bad", "config", f"{path}: {reason}", "fix it or move it away; the controller cannot start with it"
        )


def _state_folder() -> Iterator[Finding]:
    wanted = paths.wanted_state_folder()
    try:
        state = paths.state_folder()
    except TarmacError as error:
        yield Finding("bad", "state directory", error.message, error.hint)
        return
    if (kind := paths.network_file_system(state)) is not None:
        yield Finding(
            "bad", "state directory", f"{state} is on a network file system ({kind})", "set TARMAC_HOME to a local disk"
        )
    elif state != wanted:
        yield Finding(
            "warning", "state directory", paths.moved_note() or state, "set TARMAC_HOME to choose another place"
        )
    elif not os.path.isdir(state):
        yield Finding("ok", "state directory", f"{state}, created by the first command")
    elif not os.access(state, os.W_OK | os.X_OK):
        yield Finding("bad", "state directory", f"{state} cannot be written to", "fix its mode, or set TARMAC_HOME")
    else:
        yield Finding("ok", "state directory", f"{state}, on a local disk")
    yield _space(state)


def _space(state: str) -> Finding:
    existing = state
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    disk = os.statvfs(existing)
    free = disk.f_bavail * disk.f_frsize
    verdict = "bad" if free < NO_SPACE_BYTES else "warning" if free < LOW_SPACE_BYTES else "ok"
    return Finding(
        verdict,
        "free space",
        f"{size(free)} on the disk of the state directory",
        None if verdict == "ok" else "free some space: without it no job can be accepted, and logs are cut",
    )


def _running() -> Iterator[Finding]:
    try:
        client = connect(start=False)
        client.on_trouble = client.on_stale = None  # reported as findings
        client.answer_s = ANSWER_S
        status = client.status()
    except NoController:
        yield Finding("ok", "controller", "not running; the next `tarmac` command starts it")
        yield from _database_at_rest()
        return
    except TarmacError as error:
        yield Finding("bad", "controller", error.message, error.hint)
        yield from _database_at_rest()
        return
    yield _controller(status)
    yield _database(status)
    yield _agent(status)
    yield _containment(status)
    try:
        yield _gpus(client)
    except TarmacError as error:
        yield Finding("bad", "gpus", error.message, error.hint)


def _controller(status: Status) -> Finding:
    text = f"pid {status['controller_pid']}, version {status['version']}"
    if status["version"] == __version__:
        return Finding("ok", "controller", text)
    return Finding(
        "warning",
        "controller",
        f"{text}, but this command is {__version__}",
        "run `tarmac stop`; running jobs continue",
    )


def _database(status: Status) -> Finding:
    degraded = status.get("degraded")
    if degraded:
        return Finding("bad", "database", str(degraded), "see `tarmac log controller`")
    return Finding("ok", "database", size(status.get("database_bytes")))


def _database_at_rest() -> Iterator[Finding]:
    """Check the database without a controller, and without creating files beside it."""
    import sqlite3

    path = os.path.join(paths.state_folder(), "tarmac.db")
    if not os.path.exists(path):
        return
    try:
        fault = _fault_of(path)
    except sqlite3.DatabaseError as error:
        fault = str(error)
    if fault is None:
        yield Finding("ok", "database", size(os.path.getsize(path)))
    else:
        advice = "restore it from a backup, or move it away to start with an empty queue"
        yield Finding("bad", "database", f"{path}: {fault}", advice)


def _fault_of(path: str) -> str | None:
    import sqlite3

    index, log = f"{path}-shm", f"{path}-wal"
    had_index = os.path.exists(index)
    # The newest data may be only in the WAL file, and SQLite must create an index file to read that.
    has_log = os.path.exists(log) and os.path.getsize(log) > 0
    address = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    reader = sqlite3.connect(f"file:{address}?{'mode=ro' if has_log else 'immutable=1'}", uri=True)
    try:
        for mark in ("application_id", "user_version"):
            reader.execute(f"PRAGMA {mark}").fetchone()
        found = [str(row[0]) for row in reader.execute("PRAGMA quick_check(5)")]
    finally:
        reader.close()
        if not had_index and os.path.exists(index):
            os.unlink(index)
    return None if found == ["ok"] else "; ".join(found)


def _agent(status: Status) -> Finding:
    pid = status["agent_pid"]
    if pid and not status.get("agent_answers", True):
        advice = f"run `kill -CONT {pid}` if it was stopped, or `kill -9 {pid}` to replace it; running jobs continue"
        return Finding("bad", "agent", f"pid {pid} does not answer, so jobs can neither start nor be stopped", advice)
    if pid:
        return Finding("ok", "agent", f"pid {pid}")
    return Finding("bad", "agent", "not connected, so no job can start", "see `tarmac log agent`")


def _containment(status: Status) -> Finding:
    from tarmac.cli.verbs.status import containment

    if status["containment"] == "cgroup":
        return Finding("ok", "containment", containment(status))
    advice = "a writable cgroup v2 is safer: run under systemd with Delegate=yes, or `systemd-run --user --scope`"
    return Finding("warning", "containment", containment(status), advice)


def _gpus(client: Client) -> Finding:
    gpus = client.gpus()
    if gpus:
        text = f"{len(gpus)} ({', '.join(sorted({gpu.model or '?' for gpu in gpus}))})"
        unhealthy = sum(bool(gpu.health) for gpu in gpus)
        if unhealthy:
            return Finding("warning", "gpus", f"{text}, {unhealthy} of them unhealthy", "run `tarmac gpus` to see why")
        return Finding("ok", "gpus", text)
    reason = client.gpus_error() or "the agent has not reported any"
    return Finding("warning", "gpus", f"none: {reason}", "is the driver loaded? `nvidia-smi` must work for this user")
