"""Where the output of a job goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.core.model import Job, JobId


def default_log(state_folder: Path, job: JobId, attempt: int) -> str:
    return str(state_folder / "logs" / f"{job}.{attempt}.log")


def stdout_path(state_folder: Path, job: Job, attempt: int) -> str:
    return job.spec.stdout or default_log(state_folder, job.id, attempt)


def stderr_path(state_folder: Path, job: Job, attempt: int) -> str:
    """The same file as stdout unless the owner wanted them apart."""
    return job.spec.stderr or stdout_path(state_folder, job, attempt)
