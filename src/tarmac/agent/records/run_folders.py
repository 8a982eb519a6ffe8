"""All run directories: created, named after an attempt, reused for another, found again after a crash.

The name of a folder is for people, and guards against a second start. The start record says which attempt the folder
holds: after a power cut a rename may be undone while the record is on disk, so recovery relies on the record.
"""

from __future__ import annotations

import fcntl
import os
from typing import List

from tarmac.agent.records.run_folder import EXIT, START, STOP, RunFolder
from tarmac.shared import crashpoint


class RunFolders:
    def __init__(self, agent_folder: str) -> None:
        self.path = agent_folder
        self.runs_fd = _open_folder(os.path.join(agent_folder, "runs"))
        _keep_from_cleaning(self.runs_fd)
        self._spare_fd = _open_folder(os.path.join(agent_folder, "spare"))
        self._made = 0

    def create(self, *, in_advance: bool) -> RunFolder:
        """Create a folder without an attempt. In advance: on disk, which takes a millisecond."""
        name = self._new_name()
        try:
            os.mkdir(name, 0o700, dir_fd=self._spare_fd)
        except FileNotFoundError:
            self._spare_fd = _open_folder(os.path.join(self.path, "spare"))  # it was removed
            os.mkdir(name, 0o700, dir_fd=self._spare_fd)
        try:
            folder = RunFolder(self._spare_fd, name)
        except OSError:
            os.rmdir(name, dir_fd=self._spare_fd)
            raise
        try:
            if in_advance:
                self._make_durable(folder)
        except OSError:
            folder.remove()
            raise
        return folder

    def assign(self, folder: RunFolder, name: str) -> None:
        """Raises FileExistsError if the attempt has a folder: it must not start a second time. FileNotFoundError if
        a user removed this folder."""
        try:
            self._move(folder, self.runs_fd, name)
        except FileNotFoundError:
            self.runs_fd = _open_folder(os.path.join(self.path, "runs"))  # it was removed
            self._move(folder, self.runs_fd, name)

    def reuse(self, folder: RunFolder) -> None:
        """Clear a folder whose attempt is forgotten, for another attempt."""
        folder.unlink(STOP)
        # Not durable: if the records reappear after a power cut, the controller has them forgotten again.
        folder.blank(START)
        crashpoint.reach("agent:in-recycling")
        folder.blank(EXIT)
        self._move(folder, self._spare_fd, self._new_name())

    def open_all(self) -> List[RunFolder]:
        """Open all existing folders, at the agent's start."""
        return [RunFolder(fd, name) for fd in (self.runs_fd, self._spare_fd) for name in sorted(os.listdir(fd))]

    def ensure_name(self, folder: RunFolder, name: str) -> None:
        if folder.name != name or folder.parent_fd != self.runs_fd:
            self._move(folder, self.runs_fd, name)

    def _new_name(self) -> str:
        self._made += 1
        return f"{os.getpid()}-{self._made}"

    def _make_durable(self, folder: RunFolder) -> None:
        for name in (START, EXIT):
            folder.blank(name)
            folder.sync(name)
        folder.is_locked()  # creates the file
        os.fsync(folder.fd)
        os.fsync(self._spare_fd)
        folder.is_on_disk = True

    def _move(self, folder: RunFolder, parent_fd: int, name: str) -> None:
        try:
            os.rename(folder.name, name, src_dir_fd=folder.parent_fd, dst_dir_fd=parent_fd)
        except OSError as error:
            if os.path.lexists(f"/proc/self/fd/{parent_fd}/{name}"):
                raise FileExistsError(name) from error
            raise
        folder.parent_fd = parent_fd
        folder.name = name


def _keep_from_cleaning(fd: int) -> None:
    """systemd-tmpfiles leaves a locked directory alone. The shims inherit the lock and hold it while a job runs."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        pass  # it is being cleaned at this moment


def _open_folder(path: str) -> int:
    os.makedirs(path, 0o700, exist_ok=True)
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
