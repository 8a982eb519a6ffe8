"""Output files of jobs, as this machine sees them: whether each can be written, and which file it is.

Two paths name the same file if they have an identity in common. A name in a directory is one, so that a file need not
exist yet; the inode is another if the file has several names (hard links).
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional

from tarmac.shared.own.files import OwnFiles

if TYPE_CHECKING:
    from tarmac.shared.frames.to_controller import OutputVerdict


class Judged(NamedTuple):
    verdict: OutputVerdict
    identities: Optional[List[str]]  # None: unknown; empty: a device or a pipe, which any number of jobs may use


class _Directory(NamedTuple):
    path: str  # without symbolic links
    identity: str
    is_writable: bool


class OutputFiles:
    """Judges the paths of one question. Remembers directories, because the outputs of an array share them."""

    def __init__(self, own: OwnFiles) -> None:
        self._own = own
        self._directories: Dict[str, Optional[_Directory]] = {}

    def judge(self, path: str) -> Judged:
        folder, name = os.path.split(path)
        found = _lstat(path)
        if found is not None and stat.S_ISLNK(found.st_mode):
            folder, name = os.path.split(os.path.realpath(path))
            found = _lstat(os.path.join(folder, name))
        directory = self._directory(folder)
        if directory is None:
            return Judged("no_directory", None)
        if name in ("", ".", "..") or (found is not None and stat.S_ISDIR(found.st_mode)):
            return Judged("is_directory", None)
        if self._own.claims(directory.path, name) or self._own.is_linked(found):
            return Judged("reserved", None)
        if not (directory.is_writable if found is None else os.access(path, os.W_OK)):
            return Judged("not_writable", None)
        if found is None:
            return Judged("good", [f"{directory.identity}/{name}"])
        return _judge_file(found, directory, name)

    def _directory(self, folder: str) -> Optional[_Directory]:
        if folder not in self._directories:
            self._directories[folder] = _look_at(folder)
        return self._directories[folder]


def _judge_file(found: os.stat_result, directory: _Directory, name: str) -> Judged:
    if not stat.S_ISREG(found.st_mode):
        return Judged("good", [])
    identities = [f"{directory.identity}/{name}"]
    if found.st_nlink > 1:
        identities.append(_identity(found))
    return Judged("has_content" if found.st_size > 0 else "good", identities)


def _look_at(folder: str) -> Optional[_Directory]:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    return _Directory(os.path.realpath(folder), _identity(found), os.access(folder, os.W_OK | os.X_OK))


def _identity(found: os.stat_result) -> str:
    return f"{found.st_dev:x}.{found.st_ino:x}"


def _lstat(path: str) -> Optional[os.stat_result]:
    try:
        return os.lstat(path)
    except OSError:
        return None  # it does not exist yet
