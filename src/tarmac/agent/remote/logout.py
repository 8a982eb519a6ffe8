"""What systemd-logind does when the last session of a user ends: jobs may lose their shared memory, or be killed.

Neither happens to users that linger, nor to system users.
"""

from __future__ import annotations

import glob
import os
from typing import Dict, List

_FIRST_PERSON = 1000  # uids below are of system users, whose IPC objects logind leaves alone
_FILES = (
    "/usr/lib/systemd/logind.conf", "/usr/lib/systemd/logind.conf.d/*.conf", "/etc/systemd/logind.conf",
    "/run/systemd/logind.conf.d/*.conf", "/etc/systemd/logind.conf.d/*.conf",
)  # fmt: skip
_DEFAULTS = {"RemoveIPC": "yes", "KillUserProcesses": "no"}
_TRUE = ("1", "yes", "true", "on", "y", "t")


def dangers(uid: int, user: str, root: str = "/") -> List[str]:
    """`remove-ipc`: /dev/shm is emptied at log-out. `kill-processes`: jobs and the agent end with the session."""
    if not os.path.isdir(os.path.join(root, "run/systemd/system")) or _lingers(user, root):
        return []
    settings = _settings(root)
    found = []
    if settings["RemoveIPC"].lower() in _TRUE and uid >= _FIRST_PERSON:
        found.append("remove-ipc")
    if settings["KillUserProcesses"].lower() in _TRUE and uid != 0:
        found.append("kill-processes")
    return found


def _lingers(user: str, root: str) -> bool:
    return os.path.exists(os.path.join(root, "var/lib/systemd/linger", user))


def _settings(root: str) -> Dict[str, str]:
    """The last value that a file gives counts."""
    settings = dict(_DEFAULTS)
    for pattern in _FILES:
        for path in sorted(glob.glob(os.path.join(root, pattern.lstrip("/")))):
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    lines = file.read().splitlines()
            except OSError:
                continue
            for line in lines:
                name, is_given, value = line.partition("=")
                if is_given and name.strip() in settings:
                    settings[name.strip()] = value.strip()
    return settings
