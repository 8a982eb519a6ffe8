"""Who a process on a GPU is: its user and command, from /proc. What cannot be known is None."""

from __future__ import annotations

import pwd
from typing import Dict, Optional

COMMAND_CHARS = 300

_names: Dict[int, str] = {}  # a directory service may take long to answer, so ask once


def user_of(pid: int) -> Optional[str]:
    """The real user: the owner of /proc/PID is root for programs that guard their memory."""
    for line in _read(pid, "status").splitlines():
        if line.startswith(b"Uid:"):
            return _name(int(line.split()[1]))
    return None


def command_of(pid: int) -> Optional[str]:
    words = _read(pid, "cmdline").rstrip(b"\0").replace(b"\0", b" ") or _read(pid, "comm").strip()
    return words.decode("utf-8", "replace")[:COMMAND_CHARS] or None


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read(65536)
    except OSError:  # it is gone, or lives in a namespace we cannot see into
        return b""


def _name(uid: int) -> str:
    if uid not in _names:
        try:
            _names[uid] = pwd.getpwuid(uid).pw_name
        except KeyError:
            _names[uid] = str(uid)
    return _names[uid]
