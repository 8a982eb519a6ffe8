"""The run folders: made, named after their attempt, taken back for another, found again after a crash.

The name of a folder is for people and a guard against a second start; which attempt it holds, its start record says.
After a power cut a rename may be undone while the record is on disk, so recovery goes by the record.
"""

from __future__ import annotations

import os
from typing import List

from tarmac.agent.run.run_folder import EXIT, START, STOP, RunFolder
from tarmac.shared import crashpoint


class Folders:
    def __init__(self, agent_folder: str) -> None:
        self.path = agent_folder
        self.runs_fd = _open_folder(os.path.join(agent_folder, "runs"))
        self._spare_fd = _open_folder(os.path.join(agent_folder, "spare"))
        self._made = 0

    def make(self, *, in_advance: bool) -> RunFolder:
        """One without an attempt. Made in advance, it is on disk; that takes a millisecond, so not in a hurry."""
        name = self._new_name()
        os.mkdir(name, 0o700, dir_fd=self._spare_fd)
        folder = RunFolder(self._spare_fd, name)
        try:
            if in_advance:
                self._make_durable(folder)
        except OSError:
            folder.remove()
            raise
        return folder

    def assign(self, folder: RunFolder, name: str) -> None:
        """FileExistsError when there is a folder of that attempt: it must not start a second time."""
        self._move(folder, self.runs_fd, name)

    def take_back(self, folder: RunFolder) -> None:
        """Its attempt is forgotten, another may have it."""
        folder.unlink(STOP)
        # Not durable: after a power cut the records may be there again, and be forgotten again.
        folder.blank(START)
        crashpoint.reach("agent:in-recycling")
        folder.blank(EXIT)
        self._move(folder, self._spare_fd, self._new_name())

    def open_all(self) -> List[RunFolder]:
        """Every folder there is, at the agent's start: to be put right when it holds an attempt, else removed."""
        return [RunFolder(fd, name) for fd in (self.runs_fd, self._spare_fd) for name in sorted(os.listdir(fd))]

    def put_right(self, folder: RunFolder, name: str) -> None:
        if folder.name != name or folder.parent_fd != self.runs_fd:
            self._move(folder, self.runs_fd, name)

    def _new_name(self) -> str:
        self._made += 1
        return f"{os.getpid()}-{self._made}"

    def _make_durable(self, folder: RunFolder) -> None:
        for name in (START, EXIT):
            folder.blank(name)
            folder.sync(name)
        folder.is_locked()  # makes the file
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


def _open_folder(path: str) -> int:
    os.makedirs(path, 0o700, exist_ok=True)
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
