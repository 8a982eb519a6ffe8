"""Identifies processes by pid and start time, within one boot. A pid alone is never enough to signal a process."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional

from tarmac.shared.system import kernel
from tarmac.shared.system.shortage import is_shortage

TICKS_PER_S = 100  # the unit of /proc, independent of the kernel's own clock rate


class Stat(NamedTuple):
    pid: int
    state: str
    parent: int
    session: int
    threads: int
    start_time: int  # clock ticks since boot

    @property
    def is_alive(self) -> bool:
        # A process whose first thread has ended while others run is listed as a zombie with threads.
        return self.state not in "ZX" or self.threads > 1


def read_boot_id() -> str:
    """TARMAC_BOOT_ID simulates a reboot in tests."""
    override = os.environ.get("TARMAC_BOOT_ID")
    if override:
        return override
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def read_stat(pid: int) -> Optional[Stat]:
    """None if the process does not exist. Raises OSError if no descriptor is left to look."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        if is_shortage(error):
            raise
        return None
    try:
        line = os.read(fd, 4096)
    except OSError:
        return None
    finally:
        os.close(fd)
    # The name in parentheses may contain spaces and parentheses.
    fields = line[line.rindex(b")") + 2 :].split(b" ", 20)
    return Stat(pid, fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[17]), int(fields[19]))


def open_same(pid: int, start_time: int) -> Optional[int]:
    """Return a pidfd of exactly this process, None if it is gone or the kernel has no pidfds."""
    try:
        pidfd = kernel.pidfd_open(pid)
    except OSError:
        return None
    if pidfd is None:
        return None
    # Read after opening: the pidfd pins the process, so the stat of the pid is that of the pidfd.
    try:
        stat = read_stat(pid)
    except OSError:
        os.close(pidfd)
        raise
    if stat is None or stat.start_time != start_time:
        os.close(pidfd)
        return None
    return pidfd


def is_same(pid: int, start_time: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and stat.start_time == start_time and stat.is_alive


def send_signal(pid: int, start_time: int, signum: int) -> None:
    """Signal exactly this process. Does nothing if it is gone."""
    pidfd = open_same(pid, start_time)
    try:
        if pidfd is not None:
            kernel.pidfd_send_signal(pidfd, signum)
        elif is_same(pid, start_time):
            os.kill(pid, signum)  # without pidfds, the check above is the best available
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        if pidfd is not None:
            os.close(pidfd)
