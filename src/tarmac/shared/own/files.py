"""Tarmac's own files, which no job and no option may write to: everything in the state and config directories.

The directory of logs is open to users, except for the names that Tarmac gives to logs. Directories are compared by
device and inode, so that links, bind mounts and `..` make no difference, and a file need not exist yet.
"""

from __future__ import annotations

import os
import re
import stat
from typing import Dict, Iterable, List, Optional, Set, Tuple

_LOGS = "logs"  # also the kind of that directory
_OWN, _FOREIGN = "own", "foreign"
_DEFAULT_LOG_PARTS = 3  # JOB.ATTEMPT.log

_Identity = Tuple[int, int]


class OwnFiles:
    """`roots` are the state and config directories. A missing one holds nothing."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = list(roots)
        self._directories = _identities(self._roots)
        self._kinds: Dict[str, str] = {}  # of directories that were asked about
        self._logs = _identities([os.path.join(root, _LOGS) for root in self._roots])

    def includes(self, path: str) -> bool:
        """Whether a write to this path would reach a file of Tarmac, or create one among them."""
        real = os.path.realpath(path)
        return self.claims(*os.path.split(real)) or self.is_linked(_stat(real))

    def claims(self, directory: str, name: str) -> bool:
        """Whether this name, in a directory given without symbolic links, belongs to Tarmac."""
        kind = self._kinds.get(directory)
        if kind is None:
            kind = self._kinds[directory] = self._kind(directory)
        return kind == _OWN or (kind == _LOGS and _is_default_log(name))

    def _kind(self, directory: str) -> str:
        ancestor = directory
        while True:
            found = _stat(ancestor)
            identity = None if found is None else (found.st_dev, found.st_ino)
            if identity in self._logs:
                return _LOGS if ancestor == directory else _FOREIGN
            if identity in self._directories:
                return _OWN
            parent = os.path.dirname(ancestor)
            if parent == ancestor:
                return _FOREIGN
            ancestor = parent

    def is_linked(self, found: Optional[os.stat_result]) -> bool:
        """Whether a file with several names has one of them among Tarmac's files."""
        if found is None or found.st_nlink < 2 or not stat.S_ISREG(found.st_mode):
            return False
        return (found.st_dev, found.st_ino) in self._files()

    def _files(self) -> Set[_Identity]:
        folders = [folder for root in self._roots for folder in (root, os.path.join(root, "agent"))]
        return _identities([os.path.join(folder, name) for folder in folders for name in _names(folder)])


def _is_default_log(name: str) -> bool:
    parts = name.split(".")
    if parts[-1] == "older":  # see agent.log_file
        del parts[-1]
    if len(parts) > _DEFAULT_LOG_PARTS and re.fullmatch(r"part[0-9]+", parts[2]):  # of a job on several nodes
        del parts[2]
    return len(parts) == _DEFAULT_LOG_PARTS and parts[0].isdigit() and parts[1].isdigit() and parts[2] == "log"


def _identities(paths: Iterable[str]) -> Set[_Identity]:
    found = [_stat(path) for path in paths]
    return {(one.st_dev, one.st_ino) for one in found if one is not None}


def _names(folder: str) -> List[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _stat(path: str) -> Optional[os.stat_result]:
    try:
        return os.stat(path)
    except OSError:
        return None
