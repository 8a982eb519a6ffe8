"""The lock that makes a process the controller of its state directory, until the process ends, however it ends.

Both the file `controller.lock` and the directory itself are locked. The file tells people the pid. The directory is
the same one through every link and bind mount, and it is still locked if the files in it are removed or replaced.
systemd-tmpfiles leaves a locked directory alone, which matters in /var/tmp.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from tarmac.shared.own import strict_modes

if TYPE_CHECKING:
    from pathlib import Path

_OTHERS_READ = 0o044


class StateLock:
    def __init__(self, state_folder: Path) -> None:
        self._state_folder = state_folder
        self._file: int | None = None
        self._folder: int | None = None

    def take(self) -> bool:
        """False while another process has it."""
        if self._file is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = _locked(os.open(self._state_folder / "controller.lock", flags, 0o600))
        if self._file is None:
            return False
        self._folder = _locked(self._open_folder())
        if self._folder is None:
            self._release_file()
            return False
        with suppress(OSError):  # for people; not essential on a full disk
            os.ftruncate(self._file, 0)
            os.write(self._file, f"{os.getpid()}\n".encode())
        return True

    def release(self) -> None:
        """For a process that goes on without it. Otherwise the lock ends with the process."""
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None
        self._release_file()

    def _open_folder(self) -> int:
        """The state directory. If other users may read that, they could lock it: then a private one inside it."""
        folder = str(self._state_folder)
        if os.stat(folder).st_mode & _OTHERS_READ:
            folder = os.path.join(folder, "agent")
            strict_modes.make_directories(folder)
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _release_file(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _locked(descriptor: int) -> int | None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
