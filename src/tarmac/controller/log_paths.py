"""The paths of a job's output files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model.part import part_path
from tarmac.core.model.status import holds_booking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Booking
    from tarmac.core.state import State


def is_elsewhere(job: Job) -> bool:
    """True for an adopted job: its output is not redirected."""
    return job.spec.is_adopted


def default_log(state_folder: Path, job: JobId, attempt: int, part: int = 0) -> str:
    of_part = f".part{part}" if part else ""
    return f"{state_folder}/logs/{job}.{attempt}{of_part}.log"


def stdout_path(state_folder: Path, job: Job, attempt: int, part: int = 0) -> str:
    """`part`: of a job on several nodes, which may share a file system. Each part writes to a separate file."""
    if job.spec.stdout is None:
        return default_log(state_folder, job.id, attempt, part)
    return part_path(job.spec.stdout, part)


def stderr_path(state_folder: Path, job: Job, attempt: int, part: int = 0) -> str:
    """The same file as stdout unless the owner asked for two."""
    if job.spec.stderr is None:
        return stdout_path(state_folder, job, attempt, part)
    return part_path(job.spec.stderr, part)


def output_paths(state_folder: Path, job: Job, attempt: int, part: int = 0) -> list[str]:
    """Where an attempt writes: one file, or two."""
    return list(dict.fromkeys(find(state_folder, job, attempt, part) for find in (stdout_path, stderr_path)))


def running_with_logs(state: State) -> Iterator[tuple[Job, Booking]]:
    """The jobs on connected nodes whose commands have started and whose output is redirected."""
    for job in state.booked_jobs(are_connected=True):
        booking = holds_booking(job.status)
        if booking is not None and getattr(job.status, "started_at", None) is not None and not is_elsewhere(job):
            yield job, booking
