"""A cgroup v2 for each attempt: a process cannot leave it by forking or by setsid.

All leaves of a state folder are in one base. Creating a leaf creates the base if it is missing, and the process that
removes the last leaf removes the base: shims may outlive their agent.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from typing import Collection, List, NamedTuple, NoReturn, Optional

from tarmac.shared import crashpoint
from tarmac.shared.system import kernel
from tarmac.shared.system.shortage import is_shortage

_TRIES = 100
_AGAIN_S = 0.001
_READ_BYTES = 4096


class Leaf:
    """One attempt's cgroup. Its path is all it takes, so a later agent finds it again."""

    def __init__(self, path: str) -> None:
        self.path = path

    def create(self) -> bool:
        """False if it exists already."""
        for _ in range(_TRIES):
            try:
                os.mkdir(self.path, 0o755)
            except FileExistsError:
                return False
            except FileNotFoundError:
                # The last shim of an earlier agent removed the base, and may do so again at any moment.
                make_base(os.path.dirname(self.path))
            else:
                return True
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)

    def renew(self) -> None:
        """Replace it by a new one: recent kernels (6.14, and the stable ones of 2025) kill every child born into a
        cgroup that was ever killed. A cgroup that has just become empty may not be removable for a moment."""
        for _ in range(_TRIES):
            self.remove()
            if self.create():
                return
            time.sleep(_AGAIN_S)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), self.path)

    def fork(self) -> int:
        """Fork with the child inside."""
        fd = self._open()
        try:
            return kernel.fork_into(fd)
        except OSError:
            # Before Linux 5.7, or where a container forbids clone3: the child starts outside and moves in.
            pid = os.fork()
            if pid == 0:
                self._join()
            return pid
        finally:
            os.close(fd)

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            # A later agent has removed it while it was empty.
            self.create()
            return os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _join(self) -> None:
        try:
            _write(f"{self.path}/cgroup.procs", b"0")
        except OSError:
            os._exit(126)

    def is_empty(self) -> bool:
        """True also for a cgroup that does not exist. False while no descriptor is left to look."""
        try:
            return b"populated 1" not in _read(f"{self.path}/cgroup.events")
        except OSError:
            return False

    def kill(self) -> bool:
        """False before Linux 5.14: the caller must kill the members one by one."""
        try:
            _write(f"{self.path}/cgroup.kill", b"1")
        except OSError:
            return False
        return True

    def freeze(self) -> bool:
        """Freeze all processes, also those in cgroups below it. False before Linux 5.2."""
        return self._set_frozen(b"1")

    def can_freeze(self) -> bool:
        return os.path.exists(f"{self.path}/cgroup.freeze")

    def thaw(self) -> None:
        self._set_frozen(b"0")

    def _set_frozen(self, value: bytes) -> bool:
        try:
            _write(f"{self.path}/cgroup.freeze", value)
        except OSError:
            return False
        return True

    def is_frozen(self) -> bool:
        return b"frozen 1" in _read(f"{self.path}/cgroup.events")

    def members(self) -> List[int]:
        """Return all pids, including those in cgroups that the job created below its own."""
        return [int(pid) for folder in _below(self.path) for pid in _read(f"{folder}/cgroup.procs").split()]

    def remove(self) -> None:
        """Does nothing while a process is in it; the next agent sweeps it away."""
        try:
            os.rmdir(self.path)
        except FileNotFoundError:
            pass
        except OSError:
            for folder in reversed(_below(self.path)):
                try:
                    os.rmdir(folder)
                except OSError:
                    continue

    def retire(self) -> None:
        """Remove it, and the base if it was the last leaf there."""
        for _ in range(_TRIES):
            self.remove()
            if not os.path.exists(self.path):
                break
            time.sleep(_AGAIN_S)
        remove_base(os.path.dirname(self.path))


def make_base(base: str) -> None:
    """With a memory controller for each leaf, where that is possible: it counts kills for lack of memory."""
    os.makedirs(base, 0o755, exist_ok=True)
    try:
        _write(f"{base}/cgroup.subtree_control", b"+memory")
    except OSError:
        pass  # the cgroup above does not pass it on


def remove_base(base: str) -> None:
    """Does nothing while there are leaves."""
    try:
        os.rmdir(base)
    except OSError:
        pass


def sweep(base: str, keep: Collection[str]) -> None:
    """Remove the empty leaves of unknown attempts."""
    for path in _below(base)[1:]:
        if path not in keep and os.path.dirname(path) == base and Leaf(path).is_empty():
            Leaf(path).remove()


class CgroupBase(NamedTuple):
    path: Optional[str]  # the directory of the leaves; None: cgroups cannot be used
    reason: Optional[str]  # why not


def find_base(instance: str) -> CgroupBase:
    """Find a directory for the leaves and test that it works."""
    mount = _find_mount()
    if mount is None:
        return CgroupBase(None, "no cgroup v2 file system is mounted")
    base = os.path.normpath(f"{mount}/{_own_path()}/tarmac-{instance}")
    try:
        trouble = _try_out(base)
    except OSError as error:
        trouble = f"{base}: {error.strerror}"
    if trouble is None:
        return CgroupBase(base, None)
    remove_base(base)
    return CgroupBase(None, trouble)


def _find_mount() -> Optional[str]:
    with open("/proc/self/mountinfo") as file:
        for line in file:
            fields, _, rest = line.partition(" - ")
            if rest.split(" ")[0] == "cgroup2":
                return fields.split(" ")[4].encode().decode("unicode_escape")
    return None


def _own_path() -> str:
    with open("/proc/self/cgroup") as file:
        for line in file:
            if line.startswith("0::"):
                # An agent started from inside a job must not build inside that job's leaf.
                return line[3:].rstrip("\n").partition("/tarmac-")[0]
    return "/"


def _try_out(base: str) -> Optional[str]:
    """Put a child into a leaf and kill it there: this detects mounts that only look writable."""
    leaf = Leaf(f"{base}/trial-{os.getpid()}")
    leaf.create()
    read_fd, write_fd = os.pipe()
    held_fd, hold_fd = os.pipe()
    child = leaf.fork()
    if child == 0:
        _wait_in_trial(write_fd, held_fd)
    os.close(write_fd)
    os.close(held_fd)
    try:
        crashpoint.reach("agent:in-trial")
        if os.read(read_fd, 2) != b"in" or child not in leaf.members():
            return f"{leaf.path}: a child cannot be moved in"
        if not leaf.kill():
            os.kill(child, signal.SIGKILL)
        return None if _ends(child) else f"{leaf.path}: a child cannot be killed"
    finally:
        os.close(read_fd)
        os.close(hold_fd)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        leaf.remove()


def _wait_in_trial(write_fd: int, held_fd: int) -> NoReturn:
    """Wait to be killed. End with the agent, and do not keep the agent's lock."""
    try:
        kernel.close_all_but(write_fd, held_fd)
        os.write(write_fd, b"in")
        os.read(held_fd, 1)
    finally:
        os._exit(0)


def _ends(child: int) -> bool:
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return True
        time.sleep(0.001)
    return False


def _below(path: str) -> List[str]:
    """Return the cgroup and all below it, parents first."""
    folders = [path]
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                folders += sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError as error:
            if is_shortage(error):
                raise
            continue
    return folders


def _read(path: str) -> bytes:
    """Return nothing if the cgroup is gone. Raises OSError if no descriptor is left to look."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        if is_shortage(error):
            raise
        return b""
    try:
        # Without a file object, which takes nine system calls: a hand-over waits for this.
        data = b""
        while True:
            piece = os.read(fd, _READ_BYTES)
            if not piece:
                return data
            data += piece
    except OSError:
        return b""
    finally:
        os.close(fd)


def _write(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
