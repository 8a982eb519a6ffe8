"""The user a process belongs to. Limits and environments prove nothing: every user can copy those of a job."""

from __future__ import annotations

import os
from typing import Optional

from tarmac.shared.system.shortage import is_shortage


def uid_of(pid: int) -> Optional[int]:
    """Return the real uid, which a program with the setuid bit keeps; None if the process is gone.

    The owner of /proc/PID will not do: it is root for programs that protect their memory. Raises OSError if no
    descriptor is left to look.
    """
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            lines = file.read().splitlines()
    except OSError as error:
        if is_shortage(error):
            raise
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(b"Uid:")), None)


def is_ours(pid: int) -> bool:
    return uid_of(pid) == os.getuid()
