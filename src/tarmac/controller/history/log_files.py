"""The logs of removed jobs in the state directory: how much they take, and their removal."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from tarmac.controller.log_paths import default_log
from tarmac.core.model.ids import JobId
from tarmac.shared.log_parts import PARTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from tarmac.core.model.job import Job
    from tarmac.store.history.removal import EndedJob


COUNTED = 100  # attempts of a job; for one with more, the directory is listed


def delete_logs(state_folder: Path, jobs: Iterable[EndedJob | Job]) -> None:
    many: set[int] = set()
    for job in jobs:
        if job.attempt > COUNTED:
            many.add(job.id)
            continue
        for nth in range(1, job.attempt + 1):
            path = default_log(state_folder, JobId(job.id), nth)
            for file in (path, *(path + part for part in PARTS)):
                with suppress(FileNotFoundError):
                    os.unlink(file)
    if many:
        delete_logs_of(state_folder, many)


def log_bytes(state_folder: Path, jobs: Collection[int]) -> int:
    """What the logs of these jobs take on disk."""
    total = 0
    for entry, number in _logs(state_folder):
        if number in jobs:
            with suppress(FileNotFoundError):
                total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def logged_jobs(state_folder: Path) -> list[int]:
    """The jobs that have logs there."""
    return sorted({number for _, number in _logs(state_folder)})


def delete_logs_of(state_folder: Path, jobs: Collection[int]) -> None:
    """Every log of these jobs, whatever the number of attempts."""
    for entry, number in _logs(state_folder):
        if number in jobs:
            with suppress(FileNotFoundError):
                os.unlink(entry.path)


def _logs(state_folder: Path) -> Iterator[tuple[os.DirEntry[str], int]]:
    try:
        with os.scandir(state_folder / "logs") as entries:
            for entry in entries:
                number = entry.name.partition(".")[0]
                if number.isdecimal() and number.isascii() and len(number) <= 18:
                    yield entry, int(number)
    except FileNotFoundError:
        return
