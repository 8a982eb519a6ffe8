"""The paths of a job's output files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job


OLDER = ".older"  # the older part of a log with a cap; `agent/log_file.py` writes it


def is_elsewhere(job: Job) -> bool:
    """True for an adopted job: its output is not redirected."""
    return job.spec.is_adopted


def default_log(state_folder: Path, job: JobId, attempt: int) -> str:
    return f"{state_folder}/logs/{job}.{attempt}.log"


def stdout_path(state_folder: Path, job: Job, attempt: int) -> str:
    return job.spec.stdout or default_log(state_folder, job.id, attempt)


def stderr_path(state_folder: Path, job: Job, attempt: int) -> str:
    """The same file as stdout unless the owner asked for two."""
    return job.spec.stderr or stdout_path(state_folder, job, attempt)
