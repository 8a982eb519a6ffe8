"""The secrets of environments, in the directory `secrets` beside the database: one file for each distinct set of them.

A file is on disk before the commit that refers to it, and is deleted after the commit that deleted its last reference.
What a crash in between leaves is deleted when the store is opened.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from tarmac.refusal import unavailable
from tarmac.shared import crashpoint
from tarmac.store.database.files import sync

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tarmac.store.environments.environments import SecretSet

_KEY = "key"
_KEY_BYTES = 32
_NEW = ".new"
_ASIDE = "unused"  # a directory


class SecretsMissing(Exception):
    """The file with the secrets of an environment cannot be read."""


class SecretFiles:
    def __init__(self, database: Path) -> None:
        self.folder = database.parent / "secrets"
        self._key: bytes | None = None

    def key(self) -> bytes:
        """What the names of the files are hashed with. Without it, guesses could be compared with the names."""
        if self._key is None:
            self._key = self._read_key() or self._make_key()
        return self._key

    def keep(self, secrets: SecretSet) -> None:
        """Store them, on disk when this returns. Equal secrets are stored once."""
        path = self.folder / secrets.name
        if not path.exists():
            self._write(path, secrets.body)
            crashpoint.reach("store:after-secrets")

    def read(self, name: str) -> bytes:
        """Raises SecretsMissing."""
        try:
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise SecretsMissing(f"{self.folder / name}: {error.strerror}") from None

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            crashpoint.reach("store:before-forget-secrets")
            with suppress(OSError):  # the next sweep tries again
                (self.folder / name).unlink()

    def sweep(self, in_use: set[str], *, is_new: bool = False) -> None:
        """Delete the files that no environment refers to.

        Beside a new database they belong to one that was moved away: they are set aside until that is back.
        """
        try:
            found = [entry.name for entry in os.scandir(self.folder) if not entry.is_dir(follow_symlinks=False)]
            aside = self.folder / _ASIDE
            back = [name for name in os.listdir(aside) if name in in_use] if aside.is_dir() else []
        except OSError:
            return
        if back:
            _move(back, aside, self.folder)
        strays = [name for name in found if name not in in_use and name != _KEY]
        if is_new and strays:
            _move(strays, self.folder, aside)
        else:
            self.delete(strays)

    def _read_key(self) -> bytes | None:
        try:
            found = (self.folder / _KEY).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unavailable("store.cannot_write", error=f"{self.folder / _KEY}: {error.strerror}") from error
        return found if len(found) == _KEY_BYTES else None

    def _make_key(self) -> bytes:
        made = os.urandom(_KEY_BYTES)
        self._write(self.folder / _KEY, made)
        return made

    def _write(self, path: Path, body: bytes) -> None:
        """All of it, or nothing."""
        new = path.with_name(f"{path.name}{_NEW}")
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            with suppress(FileNotFoundError):
                new.unlink()  # left by a crash
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                os.fchmod(descriptor, 0o600)  # whatever the umask is
                with os.fdopen(descriptor, "wb", closefd=False) as file:
                    file.write(body)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            new.rename(path)
            sync(self.folder)
        except OSError as error:
            raise unavailable("store.cannot_write", error=f"{path}: {error.strerror}") from error


def _move(names: Iterable[str], source: Path, target: Path) -> None:
    target.mkdir(mode=0o700, exist_ok=True)
    for name in names:
        with suppress(OSError):
            os.rename(source / name, target / name)
