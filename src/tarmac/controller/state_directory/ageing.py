"""Keeps the state directory from being cleaned away in /tmp and /var/tmp, where old files are removed.

While the controller runs, its lock on the directory tells systemd-tmpfiles to leave everything in it alone. Afterwards
the sticky bit, which has no other meaning for files, does so. Other cleaners go by the times of a file.
"""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CLEANED = ("/tmp/", "/var/tmp/")
_LEFT_OUT = ("logs", "checkouts")
_INTERVAL_S = 6 * 3600.0


def is_cleaned(state_folder: Path) -> bool:
    return f"{os.path.realpath(state_folder)}/".startswith(_CLEANED)


async def keep_fresh(state_folder: Path) -> None:
    """Never returns."""
    while True:
        refresh(state_folder)
        await asyncio.sleep(_INTERVAL_S)


def refresh(state_folder: Path) -> None:
    """Logs and checkouts are left out: like other output in such a place, they may go."""
    for entry in _entries(state_folder):
        try:
            if entry.is_file(follow_symlinks=False):
                os.chmod(entry.path, stat.S_IMODE(entry.stat().st_mode) | stat.S_ISVTX)
            os.utime(entry.path, follow_symlinks=False)
        except OSError:
            continue  # gone meanwhile


def _entries(state_folder: Path) -> Iterator[os.DirEntry[str]]:
    folders = [str(state_folder)]
    for folder in folders:
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError:
            continue
        yield from entries
        folders += [
            entry.path for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name not in _LEFT_OUT
        ]
