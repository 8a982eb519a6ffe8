"""Remembers attempts whose records are gone, so that none of them starts a second time.

The controller has an attempt forgotten once its outcome is in the database. If an older copy of the database is then
put back, the job waits in it again, and only the node knows that it already ran.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Dict, Optional

from tarmac.agent.loop import log
from tarmac.agent.records.attempt_key import AttemptKey

if TYPE_CHECKING:
    from tarmac.shared.frames.base import Origin

MOST = 100_000  # the file has twice as many lines at most
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class PastAttempts:
    def __init__(self, agent_folder: str) -> None:
        self._path = os.path.join(agent_folder, "past")
        self._lines: Dict[str, None] = {}  # in the order they ended
        self._fd: Optional[int] = None
        self._written = 0
        try:
            with open(self._path) as file:
                self._lines = dict.fromkeys(file.read().split("\n"))
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError):
                log(f"cannot read which attempts ran here: {error}")
        self._written = len(self._lines)

    def has(self, key: AttemptKey, origin: Optional[Origin]) -> bool:
        return origin is not None and _line(key, origin) in self._lines

    def add(self, key: AttemptKey, origin: Optional[Origin]) -> None:
        """Not durable: a power cut that undoes it also undoes the removal of the records."""
        if origin is None:
            return  # started by an older agent
        line = _line(key, origin)
        self._lines[line] = None
        if len(self._lines) > MOST:
            del self._lines[next(iter(self._lines))]
        try:
            self._append(line)
        except OSError as error:
            log(f"cannot record that attempt {key} ran: {error}")

    def _append(self, line: str) -> None:
        if self._written >= 2 * MOST:
            self._shorten()
        if self._fd is None:
            self._fd = os.open(self._path, _APPEND, 0o600)
        os.write(self._fd, f"\n{line}".encode())  # the newline first: a crash may have cut the last line short
        self._written += 1

    def _shorten(self) -> None:
        """Write the file anew with what is remembered."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        fresh = self._path + ".new"
        fd = os.open(fresh, _APPEND | os.O_TRUNC, 0o600)
        try:
            left = memoryview("\n".join(self._lines).encode())
            while left:
                left = left[os.write(fd, left) :]
        finally:
            os.close(fd)
        os.replace(fresh, self._path)
        self._written = len(self._lines)


def _line(key: AttemptKey, origin: Origin) -> str:
    return f"{key} {origin['identity']}"
