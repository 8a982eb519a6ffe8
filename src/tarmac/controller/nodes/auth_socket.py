"""The socket of the user's ssh-agent, as the newest command knows it: each log-in session has another one."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class AuthSocket:
    def __init__(self, changed: Callable[[], None]) -> None:
        """`changed` is called when another socket is known."""
        self._changed = changed
        self._path = os.environ.get("SSH_AUTH_SOCK")

    @property
    def path(self) -> str | None:
        """None if there is none, or the session that made it has ended."""
        return self._path if self._path is not None and _is_own_socket(self._path) else None

    def note(self, path: str) -> None:
        """A command runs where the agent is reached at this path."""
        if path != self._path and _is_own_socket(path):
            self._path = path
            self._changed()


def _is_own_socket(path: str) -> bool:
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISSOCK(info.st_mode) and info.st_uid == os.getuid()
