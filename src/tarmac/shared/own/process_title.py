"""What `ps` shows for a process of Tarmac: `tarmac: shim 7.1 -m tarmac.agent …` instead of `python -m tarmac.agent …`.

The kernel reads a command line from the memory of its process, which may overwrite it. Only the first word is replaced:
a search for `-m tarmac.agent --state DIR` still finds it. A fork inherits its parent's title, and exec ends it.
"""

from __future__ import annotations

import ctypes
import os
from typing import NamedTuple, Optional

from tarmac.shared.system import kernel

_ARG_START, _ARG_END = 45, 46  # in /proc/PID/stat, counted from the state
_NOT_SHOWN = b"--ready-fd"  # the last option; it means nothing once the process is ready


class _Area(NamedTuple):
    start: int
    size: int
    rest: bytes  # of the command line, after its first word


_area: Optional[_Area] = None


def begin(title: str, name: str) -> None:
    """Give this process a title, and a name of at most 15 bytes for `ps -e` and `top`. Forks can change the title."""
    global _area  # noqa: PLW0603  a process has one command line
    kernel.set_name(name.encode())
    try:
        _area = _find()
    except (OSError, ValueError, IndexError):
        _area = None  # a sandbox without this part of /proc: the title stays as it is
    change(title)


def change(title: str) -> None:
    """Write to memory, and nothing else: a shim does this for every job."""
    if _area is not None:
        line = b"%s\0%s" % (title.encode(), _area.rest)
        ctypes.memmove(_area.start, line[: _area.size - 1].ljust(_area.size, b"\0"), _area.size)


def _find() -> Optional[_Area]:
    """Return where the command line is, if the memory there really holds it."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b") ")[2].split()
    start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
    with open("/proc/self/cmdline", "rb") as file:
        line = file.read()
    if not 0 < len(line) == end - start or _read_memory(start, end - start) != line:
        return None
    rest = line.partition(b"\0")[2]
    return _Area(start, end - start, rest.partition(_NOT_SHOWN)[0])


def _read_memory(start: int, size: int) -> bytes:
    """Through a file, where a wrong address is an error instead of a crash."""
    fd = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(fd, size, start)
    finally:
        os.close(fd)
