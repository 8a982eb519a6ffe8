"""Finds the processes of one state directory in /proc, without relying on Tarmac."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from tarmac.agent.records.run_folder import RunFolder

Key = tuple[int, int]  # job and attempt


@dataclass(frozen=True, kw_only=True)
class Sighting:
    pid: int
    # controller, agent, shim, spare (a shim without a job), probe, fork (about to become one of these), job
    kind: str
    folder: str | None = None  # of a shim: its open run folder
    job: int | None = None

    def stop(self) -> bool:
        """Send SIGSTOP. False if the process is gone."""
        try:
            os.kill(self.pid, signal.SIGSTOP)
        except ProcessLookupError:
            return False
        return True

    def is_there(self) -> bool:
        stat = _stat(self.pid)
        return stat is not None and stat[0] not in "ZX"

    def is_stopped(self) -> bool:
        stat = _stat(self.pid)
        return stat is None or stat[0] in "TZX"

    def now_at(self) -> tuple[str, Key | None]:
        """The open run folder, and its attempt."""
        folder = _run_folder(self.pid)
        return folder or "", _key_of(folder)


def of(state: str) -> list[Sighting]:
    """All processes except the jobs."""
    words = {int(name): _words(name) for name in os.listdir("/proc") if name.isdigit()}
    agents = {pid for pid, said in words.items() if _is(said, "tarmac.agent", state)}
    found = [
        Sighting(pid=pid, kind="controller") for pid, said in words.items() if _is(said, "tarmac.controller", state)
    ]
    return found + [one for pid in sorted(agents) if (one := _of_agent(pid, agents)) is not None]


def of_program(path: str) -> list[Sighting]:
    """The processes of jobs that run this program, including leftovers."""
    words = {int(name): _words(name) for name in os.listdir("/proc") if name.isdigit()}
    return [Sighting(pid=pid, kind="job") for pid, said in words.items() if said[:1] == [path]]


def _of_agent(pid: int, agents: set[int]) -> Sighting | None:
    """Forks of the agent differ from it only in name and parent."""
    stat, name = _stat(pid), name_of(pid)
    if stat is None or stat[0] in "ZX":
        return None
    if name == "tarmac-probe":
        return Sighting(pid=pid, kind="probe")
    parent = int(stat[1])
    if name == "tarmac-shim":
        if parent in agents and name_of(parent) == "tarmac-shim":
            return Sighting(pid=pid, kind="job")  # about to execute its command
        folder = _run_folder(pid)
        key = _key_of(folder)
        return Sighting(pid=pid, kind="shim" if key else "spare", folder=folder, job=key[0] if key else None)
    return Sighting(pid=pid, kind="fork" if parent in agents else "agent")


def record(folder: str, name: str) -> Key | None:
    """The attempt of a readable start or exit record in the folder."""
    parent, base = os.path.split(folder)
    try:
        parent_fd = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        run = RunFolder(parent_fd, base)
    except OSError:
        return None
    finally:
        os.close(parent_fd)
    try:
        found = run.read(f"{name}.json")
        return None if found is None else (int(found["job"]), int(found["attempt"]))
    finally:
        run.close()


def _run_folder(pid: int) -> str | None:
    """The folder of the shim, from its descriptor, which is valid even after a rename."""
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            if os.path.basename(os.path.dirname(target)) == "runs" and not target.endswith("(deleted)"):
                return target
    except OSError:
        pass
    return None


def _key_of(folder: str | None) -> Key | None:
    job, _, attempt = os.path.basename(folder or "").partition(".")
    return (int(job), int(attempt)) if job.isdigit() and attempt.isdigit() else None


def _is(words: list[str], module: str, state: str) -> bool:
    return words[1:3] == ["-m", module] and state in words


def _words(pid: str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []


def _stat(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().rstrip()
    except OSError:
        return ""


def parent_of(pid: int) -> int | None:
    stat = _stat(pid)
    return None if stat is None else int(stat[1])
