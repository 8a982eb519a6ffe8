"""A job's processes held together by a cgroup v2 of their own: nothing in it can leave by forking or by setsid.

All leaves of a state folder are in one base. Whoever makes a leaf makes the base if there is none, and the last one out
removes it: shims may outlive their agent.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from typing import Collection, List, NoReturn, Optional, Tuple

from tarmac.shared import crashpoint, kernel

_TRIES = 100
_AGAIN_S = 0.001


class Leaf:
    """One attempt's cgroup, known by its path alone, so that an agent started later finds it again."""

    def __init__(self, path: str) -> None:
        self.path = path

    def make(self) -> bool:
        """False when there is one of that name."""
        for _ in range(_TRIES):
            try:
                os.mkdir(self.path, 0o755)
            except FileExistsError:
                return False
            except FileNotFoundError:
                # The last shim of an earlier agent took the base away, and may do so again this moment.
                os.makedirs(os.path.dirname(self.path), 0o755, exist_ok=True)
            else:
                return True
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)

    def renew(self) -> None:
        """Recent kernels (6.14, and the stable ones of 2025) kill every child born into a cgroup that was ever killed,
        so none serves twice. One just emptied may take a moment to be removable."""
        for _ in range(_TRIES):
            self.remove()
            if self.make():
                return
            time.sleep(_AGAIN_S)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), self.path)

    def fork(self) -> int:
        """fork with the child inside."""
        fd = self._open()
        try:
            return kernel.fork_into(fd)
        except OSError:
            # Before Linux 5.7, or clone3 forbidden by a container's filter: born outside, moved in by itself.
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
            # An agent that came after ours has swept it away while nobody was in it.
            self.make()
            return os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _join(self) -> None:
        try:
            _write(f"{self.path}/cgroup.procs", b"0")
        except OSError:
            os._exit(126)

    def is_empty(self) -> bool:
        """A cgroup that is gone is empty."""
        return b"populated 1" not in _read(f"{self.path}/cgroup.events")

    def kill(self) -> bool:
        """False before Linux 5.14: the members have to be killed one by one."""
        try:
            _write(f"{self.path}/cgroup.kill", b"1")
        except OSError:
            return False
        return True

    def members(self) -> List[int]:
        """Also those in cgroups the job made below its own."""
        return [int(pid) for folder in _below(self.path) for pid in _read(f"{folder}/cgroup.procs").split()]

    def remove(self) -> None:
        """Stays when something is still in it; the next agent sweeps."""
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
        """Nobody needs it any more, and perhaps no other is left in the base."""
        for _ in range(_TRIES):
            self.remove()
            if not os.path.exists(self.path):
                break
            time.sleep(_AGAIN_S)
        remove_base(os.path.dirname(self.path))


def remove_base(base: str) -> None:
    """Stays as long as there are leaves: whoever removes the last of them tries again."""
    try:
        os.rmdir(base)
    except OSError:
        pass


def sweep(base: str, kept: Collection[str]) -> None:
    """Removes the empty leaves of attempts nobody knows any more."""
    for path in _below(base)[1:]:
        if path not in kept and os.path.dirname(path) == base and Leaf(path).is_empty():
            Leaf(path).remove()


def find_base(instance: str) -> Tuple[Optional[str], Optional[str]]:
    """The folder for the leaves, proven by trial; or None and the reason why there is none."""
    mount = _find_mount()
    if mount is None:
        return None, "no cgroup v2 file system is mounted"
    base = os.path.normpath(f"{mount}/{_own_path()}/tarmac-{instance}")
    try:
        trouble = _try_out(base)
    except OSError as error:
        trouble = f"{base}: {error.strerror}"
    if trouble is None:
        return base, None
    remove_base(base)
    return None, trouble


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
    """A child is put into a leaf and killed there: mounts that look writable and are not show themselves."""
    leaf = Leaf(f"{base}/trial-{os.getpid()}")
    leaf.make()
    read_fd, write_fd = os.pipe()
    held_fd, hold_fd = os.pipe()
    child = leaf.fork()
    if child == 0:
        _be_tried(write_fd, held_fd)
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


def _be_tried(write_fd: int, held_fd: int) -> NoReturn:
    """Ends with the agent, should that be killed, and must not keep the agent's lock from the next one."""
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
    """The cgroup and all under it, parents first."""
    folders = [path]
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                folders += sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue
    return folders


def _read(path: str) -> bytes:
    """Empty when it cannot be read: the cgroup is gone."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _write(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
