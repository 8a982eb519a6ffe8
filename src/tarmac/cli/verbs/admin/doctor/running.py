"""Checks the controller, the database, the agents and the GPUs, without starting any of them."""

from __future__ import annotations

import os
from contextlib import suppress

from tarmac import __version__
from tarmac.cli.render.gpus.nodes import drain_words
from tarmac.cli.session import connect
from tarmac.cli.verbs.admin.doctor.finding import Finding
from tarmac.cli.verbs.admin.doctor.installation import check_containment
from tarmac.client.transport import NoController
from tarmac.errors import TarmacError
from tarmac.shared.units import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from tarmac.client import Client
    from tarmac.client.answers import Status

ANSWER_S = 5  # short: people run this because something hangs


class Reached:
    """The controller, if it answers; `trouble` says why it does not."""

    def __init__(self) -> None:
        self.client: Client | None = None
        self.status: Status | None = None
        self.trouble: TarmacError | None = None
        try:
            self.client = connect(start=False)
            self.client.on_trouble = self.client.on_stale = None  # reported as findings
            self.client.answer_s = ANSWER_S
            self.status = self.client.status()
        except TarmacError as error:
            self.trouble = error

    @property
    def is_absent(self) -> bool:
        return isinstance(self.trouble, NoController)


def check_running(state: str, reached: Reached) -> Iterator[Finding]:
    yield from _snapshots(state)
    client, status = reached.client, reached.status
    if reached.is_absent:
        yield Finding("ok", "controller", "not running; the next `tarmac` command starts it")
        yield from _database_at_rest(state)
        yield from check_containment(state)
        return
    if reached.trouble is not None:
        yield Finding("bad", "controller", reached.trouble.message, reached.trouble.hint)
    if client is None or status is None:
        return
    yield _controller(status)
    yield _database(status)
    yield _agent(status)
    yield from _nodes(status)
    yield containment_finding(status)
    try:
        yield _gpus(client)
    except TarmacError as error:
        yield Finding("bad", "gpus", error.message, error.hint)
    with suppress(TarmacError):  # an older controller
        yield from _targets(client)


def _targets(client: Client) -> Iterator[Finding]:
    """Targets of notifications that fail, or that the config file gives a wrong name or URL."""
    for target in client.notify_targets():
        if target["error"] is not None:
            text = f"{target['name']}: {target['error']}"
            yield Finding("warning", "notifications", text, "run `tarmac notify ls` to list all targets")


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


def _database_at_rest(state: str) -> Iterator[Finding]:
    """Check the database without a controller, and without creating files beside it."""
    import sqlite3

    path = os.path.join(state, "tarmac.db")
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


def _snapshots(state: str) -> Iterator[Finding]:
    """Report a damaged file of snapshots. The objects in it are checked when they are used.

    `immutable`: the file may be in use, and nothing is created beside it.
    """
    import sqlite3

    path = os.path.join(state, "snapshots.db")
    if not os.path.exists(path):
        return
    reader = sqlite3.connect(f"file:{_address(path)}?immutable=1", uri=True)
    try:
        with open(path, "rb") as file:
            if file.read(16) not in {b"", b"SQLite format 3\0"}:  # SQLite takes a very short file for an empty one
                raise sqlite3.DatabaseError("file is not a database")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except (sqlite3.DatabaseError, OSError) as error:
        advice = f"run `tarmac stop`, then `mv {path} {path}.away`, and submit jobs with --snapshot again"
        yield Finding("bad", "snapshots", f"{path}: {error}", advice)
    finally:
        reader.close()


def _address(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _fault_of(path: str) -> str | None:
    import sqlite3

    index, log = f"{path}-shm", f"{path}-wal"
    had_index = os.path.exists(index)
    # The newest data may be only in the WAL file, and SQLite must create an index file to read that.
    has_log = os.path.exists(log) and os.path.getsize(log) > 0
    reader = sqlite3.connect(f"file:{_address(path)}?{'mode=ro' if has_log else 'immutable=1'}", uri=True)
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


def _nodes(status: Status) -> Iterator[Finding]:
    """Drained nodes, and those beside the controller's own machine, which has a separate agent here."""
    nodes = status.get("nodes", [])
    for node in nodes:
        if node.get("drained"):
            advice = f"once the cause is fixed, run `tarmac node resume {node['name']}`"
            yield Finding("warning", f"node {node['name']}", drain_words(node), advice)
    for node in nodes:
        yield from (Finding("warning", f"node {node['name']}", text) for text in node["warnings"])
    for node in nodes[1:]:
        if node["connected"]:
            yield Finding("ok", f"node {node['name']}", f"agent pid {node['agent_pid']}, {node['gpus']} GPUs")
        else:
            reason = f": {node['problem']}" if node["problem"] else ""
            over_ssh = f"run `tarmac node login {node['name']}` if it wants a log-in, or check `ssh {node['host']}`"
            local = "check [[nodes]] in the config file; `tarmac log controller` shows every attempt"
            advice = over_ssh if node["host"] else local
            yield Finding("bad", f"node {node['name']}", f"not connected since {node['since']}{reason}", advice)


def containment_finding(status: Mapping[str, Any]) -> Finding:
    from tarmac.cli.verbs.look.status import containment

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
