"""Notices when the folder it lives in is taken away: a controller that nobody can reach must not go on.

Without its socket nobody finds it, and without its lock a second one may begin; either way it ends, jobs go on, and
the next command starts another.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.shared import kernel

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from pathlib import Path

_GONE = 0x040 | 0x080 | 0x200 | 0x400 | 0x800  # moved from, moved to, delete, delete self, move self


class Presence:
    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        self._folder = folder
        self._names = names
        self._inodes = self._look()

    def is_here(self) -> bool:
        return self._look() == self._inodes

    def watch(self, loop: asyncio.AbstractEventLoop, gone: Callable[[], None]) -> None:
        """Calls `gone` once the files are not those that were there at first."""
        descriptor = kernel.inotify_init()
        kernel.inotify_add_watch(descriptor, str(self._folder), _GONE)

        def something_moved() -> None:
            os.read(descriptor, 65536)
            if not self.is_here():
                loop.remove_reader(descriptor)
                os.close(descriptor)
                gone()

        loop.add_reader(descriptor, something_moved)

    def _look(self) -> list[int]:
        return [_inode(self._folder / name) for name in self._names]


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0
