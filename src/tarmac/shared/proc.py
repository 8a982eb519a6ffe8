"""Which process is meant: pid and start time, within one boot. A pid alone is never enough to signal one."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional

from tarmac.shared import kernel


class Stat(NamedTuple):
    pid: int
    state: str
    parent: int
    session: int
    threads: int
    start_time: int  # clock ticks since boot

    @property
    def is_alive(self) -> bool:
        # A process whose first thread has ended while others run shows as a zombie with threads.
        return self.state not in "ZX" or self.threads > 1


def read_boot_id() -> str:
    """TARMAC_BOOT_ID stands in for a reboot in tests."""
    override = os.environ.get("TARMAC_BOOT_ID")
    if override:
        return override
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def read_stat(pid: int) -> Optional[Stat]:
    """None when there is no such process."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        line = os.read(fd, 4096)
    except OSError:
        return None
    finally:
        os.close(fd)
    # The name in parentheses may hold spaces and parentheses itself.
    fields = line[line.rindex(b")") + 2 :].split(b" ", 20)
    return Stat(pid, fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[17]), int(fields[19]))


def open_same(pid: int, start_time: int) -> Optional[int]:
    """A pidfd of that very process, None when it is gone or the kernel has no pidfds."""
    try:
        pidfd = kernel.pidfd_open(pid)
    except OSError:
        return None
    if pidfd is None:
        return None
    # Read after opening: the pidfd pins the process, so what is true of the pid now is true of the pidfd.
    stat = read_stat(pid)
    if stat is None or stat.start_time != start_time:
        os.close(pidfd)
        return None
    return pidfd


def is_same(pid: int, start_time: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and stat.start_time == start_time and stat.is_alive


def send_signal(pid: int, start_time: int, signum: int) -> None:
    """To that very process; to nobody when it is gone."""
    pidfd = open_same(pid, start_time)
    try:
        if pidfd is not None:
            kernel.pidfd_send_signal(pidfd, signum)
        elif is_same(pid, start_time):
            os.kill(pid, signum)  # a kernel without pidfds: the check just above is the best there is
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        if pidfd is not None:
            os.close(pidfd)
