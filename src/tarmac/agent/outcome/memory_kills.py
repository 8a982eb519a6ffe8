"""Did the kernel kill a process of the attempt because the machine, or its cgroup, ran out of memory?

The attempt's own cgroup counts such kills, if it has a memory controller. Otherwise the kernel's log names the process.
Where the log may not be read, a count that rose while the command ran counts, if the command died of SIGKILL.
"""

from __future__ import annotations

import errno
import os
import re
import time
from typing import Iterator, NamedTuple, Optional

_VMSTAT = "/proc/vmstat"
_KERNEL_LOG = "/dev/kmsg"
_RECORD_BYTES = 8192
_EARLIER_S = 1.0  # the clock of the kernel's log may differ from ours by a little
_JUST_BEFORE_S = 10.0  # its end: a kill then ended it, even if the process is not known
_CASE = re.compile(r"oom-kill:.*\btask_memcg=([^,]*),.*\bpid=(\d+)")
_KILL = re.compile(r"(?:[Oo]ut of memory: )?Kill(?:ed)? process (\d+) ")
_SAYS_COUNT = "the kernel killed {} for lack of memory while the job ran (oom_kill {} in {})"


class Counts(NamedTuple):
    """How many processes were killed for lack of memory, when the command began."""

    cgroup: Optional[str]  # the nearest cgroup of the attempt that counts them
    in_cgroup: int
    in_machine: Optional[int]  # None: an old kernel does not say
    at: float  # on the monotonic clock, as in the kernel's log


class Ending(NamedTuple):
    """How the attempt ended."""

    pid: int
    leaf: Optional[str]  # its cgroup
    is_killed: bool  # by SIGKILL, it or the last command of a script


def take_counts(leaf: Optional[str]) -> Counts:
    cgroup = None if leaf is None else counting_cgroup(leaf)
    return Counts(cgroup, _count_in(cgroup) if cgroup else 0, _read_count(_VMSTAT), time.monotonic())


def counting_cgroup(leaf: str) -> Optional[str]:
    """The leaf itself if it has a memory controller, otherwise the nearest cgroup around it that has one."""
    path = leaf
    while len(path) > 1:
        if os.path.exists(f"{path}/memory.events"):
            return path
        path = os.path.dirname(path)
    return None


def find_kill(before: Counts, ending: Ending, kernel_log: str = _KERNEL_LOG, vmstat: str = _VMSTAT) -> Optional[str]:
    """The line that says so, or None."""
    in_cgroup = _count_in(before.cgroup) - before.in_cgroup if before.cgroup else 0
    if in_cgroup > 0 and before.cgroup == ending.leaf:
        return _counted(in_cgroup, f"{before.cgroup}/memory.events")
    now = _read_count(vmstat)
    in_machine = 0 if now is None or before.in_machine is None else now - before.in_machine
    if not in_machine and not in_cgroup and now is not None:
        return None
    try:
        line = _find_line(before, ending, kernel_log)
    except OSError:
        if not ending.is_killed:
            return None
        rose = in_cgroup if before.cgroup else in_machine
        return _counted(rose, f"{before.cgroup}/memory.events" if before.cgroup else vmstat) if rose > 0 else None
    if line is None and ending.is_killed and in_cgroup > 0:
        return _counted(in_cgroup, f"{before.cgroup}/memory.events")  # in a container, the log has other pids
    return line


def _counted(count: int, source: str) -> str:
    return _SAYS_COUNT.format("a process" if count == 1 else f"{count} processes", count, source)


def _count_in(cgroup: str) -> int:
    return _read_count(f"{cgroup}/memory.events") or 0


def _read_count(path: str) -> Optional[int]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = b""
            while True:
                piece = os.read(fd, 65536)
                if not piece:
                    break
                data += piece
        finally:
            os.close(fd)
    except OSError:
        return None
    found = re.search(rb"^oom_kill (\d+)$", data, re.MULTILINE)
    return int(found.group(1)) if found else None


class _Record(NamedTuple):
    at: float  # seconds, on the monotonic clock
    text: str


def _find_line(before: Counts, ending: Ending, path: str) -> Optional[str]:
    """Raises OSError if the kernel's log may not be read."""
    end = time.monotonic()
    named: Optional[int] = None  # a process of the attempt, by its cgroup
    for record in _records(path):
        if record.at < before.at - _EARLIER_S:
            continue
        case = _CASE.search(record.text)
        if case:
            named = int(case.group(2)) if _is_inside(case.group(1), ending.leaf) else named
            continue
        kill = _KILL.search(record.text)
        if kill is None:
            continue
        pid = int(kill.group(1))
        if pid in (ending.pid, named) or (ending.is_killed and record.at > end - _JUST_BEFORE_S):
            return record.text
    return None


def _is_inside(cgroup: str, leaf: Optional[str]) -> bool:
    """`leaf` is a path in the file system, `cgroup` one in its hierarchy."""
    if leaf is None:
        return False
    ours = "/".join(leaf.rstrip("/").split("/")[-2:])  # the base, which is unique, and the leaf
    return f"/{ours}/" in f"{cgroup}/"


def _records(path: str) -> Iterator[_Record]:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        while True:
            try:
                data = os.read(fd, _RECORD_BYTES)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.EPIPE:
                    continue  # records were overwritten meanwhile
                raise
            if not data:
                return
            for line in data.split(b"\n"):
                head, found, text = line.partition(b";")
                fields = head.split(b",")
                if found and len(fields) >= 3 and fields[2].isdigit():
                    yield _Record(int(fields[2]) / 1e6, text.decode("utf-8", "replace"))
    finally:
        os.close(fd)
