"""Where a helper is, in memory shared with the agent: the path that it touches next, and so the mount that hangs.

A helper follows a path one name at a time, because a symbolic link may lead to another mount. It stops before a mount
that other helpers hang on.
"""

from __future__ import annotations

import mmap
import os
import stat
from struct import Struct
from typing import Collection, List, Optional, Set

from tarmac.agent.files.mounts import mount_of, read_mounts

_LENGTH = Struct("=H")
_BYTES = 8192
_MOST_LINKS = 40  # as in the kernel


class Avoided(Exception):
    """The path leads to a mount that does not answer."""

    def __init__(self, mount: str) -> None:
        super().__init__(mount)
        self.mount = mount


class Trail:
    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _BYTES)
        self._avoid: Collection[str] = ()
        self._mounts: List[str] = []
        self._walked: Set[str] = set()  # plain names, in this request

    # In the helper

    def begin(self, avoid: Collection[str]) -> None:
        self._avoid = avoid
        self._mounts = read_mounts() if avoid else []
        self._walked.clear()

    def end(self) -> None:
        self._announce("")

    def follow(self, path: str) -> None:
        """Announce each step of the path. Raises Avoided. A path that does not exist is followed as far as it goes."""
        at, links = "/", 0
        names = path.split("/")[::-1]
        while names:
            name = names.pop()
            if name in ("", "."):
                continue
            if name == "..":
                at = os.path.dirname(at)
                continue
            step = f"{at.rstrip('/')}/{name}"
            if step not in self._walked:
                target = self._step(step)
                if target is None:
                    break
                if target:
                    links += 1
                    if links > _MOST_LINKS:
                        return
                    at = "/" if target.startswith("/") else at
                    names += target.split("/")[::-1]
                    continue
                self._walked.add(step)
            at = step
        self._announce(at)
        self._refuse_avoided(at, is_end=True)

    def _step(self, path: str) -> Optional[str]:
        """Return the target of a link, nothing for any other name, None if it does not exist."""
        self._refuse_avoided(path, is_end=False)
        self._announce(path)
        try:
            return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else ""
        except OSError:
            return None

    def _refuse_avoided(self, path: str, *, is_end: bool) -> None:
        """The root file system is only avoided where a path ends there: all others are below it."""
        if self._avoid:
            mount = mount_of(path, self._mounts)
            if mount in self._avoid and (is_end or mount != "/"):
                raise Avoided(mount)

    def _announce(self, path: str) -> None:
        words = os.fsencode(path)[: _BYTES - _LENGTH.size]
        self._memory[: _LENGTH.size + len(words)] = _LENGTH.pack(len(words)) + words

    # In the agent

    def read(self) -> str:
        """Return where the helper is. Empty between two requests."""
        (length,) = _LENGTH.unpack_from(self._memory)
        return os.fsdecode(self._memory[_LENGTH.size : _LENGTH.size + length])
