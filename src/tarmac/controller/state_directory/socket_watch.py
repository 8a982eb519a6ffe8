"""Notices when the controller's socket or lock, or another of its files, is removed.

Without its socket no client finds the controller, and without its lock a second one may start. Either way it ends;
jobs go on, and the next command starts a new controller. The database is put back.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.shared.system import kernel

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from pathlib import Path

_GONE = 0x040 | 0x080 | 0x200 | 0x400 | 0x800  # moved from, moved to, delete, delete self, move self

SETTLE_S = 1.0  # the whole directory may be on its way out, one file after the other


class SocketWatch:
    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        self._folder = folder
        self._names = names
        self._inodes = self._look()
        self._end: Callable[[], None] = lambda: None
        self._timer: asyncio.TimerHandle | None = None

    def is_intact(self) -> bool:
        return self._look() == self._inodes

    def begin(self, loop: asyncio.AbstractEventLoop, removed: Callable[[], None], others: Callable[[], None]) -> None:
        """Call `removed` once any of the files is gone or replaced, `others` a while after other files were."""
        descriptor = kernel.inotify_init()
        kernel.inotify_add_watch(descriptor, str(self._folder), _GONE)

        def look() -> None:
            os.read(descriptor, 65536)
            if not self.is_intact():
                self.end()
                removed()
            elif self._timer is None:
                self._timer = loop.call_later(SETTLE_S, settled)

        def settled() -> None:
            self._timer = None
            others()

        def end() -> None:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            if self._timer is not None:
                self._timer.cancel()

        loop.add_reader(descriptor, look)
        self._end = end

    def end(self) -> None:
        """Stop watching: what follows is the controller's own work."""
        self._end()
        self._end = lambda: None

    def _look(self) -> list[int]:
        return [_inode(self._folder / name) for name in self._names]


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0
