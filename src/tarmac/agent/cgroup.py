"""A job's processes held together by a cgroup v2 of their own: nothing in it can leave by forking or by setsid."""

from __future__ import annotations

import os
import signal
import time
from typing import List, Optional, Tuple

from tarmac.agent import kernel, process


class Leaf:
    """One attempt's cgroup, known by its path alone, so that an agent started later finds it again."""

    kind = "cgroup"

    def __init__(self, path: str) -> None:
        self.path = path

    def make(self) -> None:
        try:
            os.mkdir(self.path, 0o755)
        except FileExistsError:
            pass

    def fork(self) -> int:
        """fork with the child inside."""
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
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

    def _join(self) -> None:
        try:
            with open(f"{self.path}/cgroup.procs", "wb", buffering=0) as file:
                file.write(b"0")
        except OSError:
            os._exit(126)

    def open_events(self) -> Optional[int]:
        """A descriptor that polls as PRIORITY when the cgroup becomes empty or not. None when it is gone."""
        try:
            return os.open(f"{self.path}/cgroup.events", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return None

    def is_empty(self) -> bool:
        fd = self.open_events()
        if fd is None:
            return True
        try:
            return b"populated 1" not in os.read(fd, 4096)
        except OSError:
            return True
        finally:
            os.close(fd)

    def signal(self, signum: int) -> None:
        """To each process once, also to those that appear while this goes on."""
        seen = set()
        while True:
            fresh = [pid for pid in self.members() if pid not in seen]
            if not fresh:
                return
            for pid in fresh:
                seen.add(pid)
                _signal_member(pid, signum)

    def kill(self) -> None:
        try:
            with open(f"{self.path}/cgroup.kill", "wb", buffering=0) as file:
                file.write(b"1")
        except FileNotFoundError:
            self.signal(signal.SIGKILL)  # before Linux 5.14, or the cgroup is gone
        except OSError:
            self.signal(signal.SIGKILL)

    def members(self) -> List[int]:
        """Also those in cgroups the job made below its own."""
        pids: List[int] = []
        for folder in _below(self.path):
            try:
                with open(f"{folder}/cgroup.procs", "rb", buffering=0) as file:
                    pids += [int(pid) for pid in file.read(1024 * 1024).split()]
            except OSError:
                continue
        return pids

    def remove(self) -> bool:
        """False while something is still in it."""
        for folder in reversed(_below(self.path)):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                pass
            except OSError:
                return False
        return True


def _signal_member(pid: int, signum: int) -> None:
    stat = process.read_stat(pid)
    if stat is not None:
        process.send_signal(pid, stat.start_time, signum)


def _below(path: str) -> List[str]:
    """The cgroup and all under it, parents first."""
    folders = [path]
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                folders += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
    return folders


def find_base(instance: str) -> Tuple[Optional[str], Optional[str]]:
    """The folder for the leaves, proven by trial; or None and the reason why there is none."""
    mount = _find_mount()
    if mount is None:
        return None, "no cgroup v2 file system is mounted"
    base = os.path.normpath(f"{mount}/{_own_path()}/tarmac-{instance}")
    try:
        os.makedirs(base, 0o755, exist_ok=True)
        trouble = _try_out(base)
    except OSError as error:
        return None, f"{base}: {error.strerror}"
    return (None, trouble) if trouble else (base, None)


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
                path = line[3:].rstrip("\n")
                # An agent started from inside a job must not build inside that job's leaf.
                return path.partition("/tarmac-")[0]
    return "/"


def _try_out(base: str) -> Optional[str]:
    """A child is put into a leaf and killed there: mounts that look writable and are not show themselves."""
    leaf = Leaf(f"{base}/trial-{os.getpid()}")
    leaf.make()
    child = leaf.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    try:
        if child not in leaf.members() and leaf.is_empty():
            return f"{leaf.path}: a child cannot be moved in"
        leaf.kill()
        if not _ends(child, 5.0):
            return f"{leaf.path}: a child cannot be killed"
        return None
    finally:
        _end(child)
        leaf.remove()


def _ends(child: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return True
        time.sleep(0.001)
    return False


def _end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
