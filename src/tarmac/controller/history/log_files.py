"""Removes the logs of removed jobs from the state directory."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from tarmac.controller.log_paths import default_log
from tarmac.core.model.ids import JobId
from tarmac.shared.log_parts import PARTS
from tarmac.shared.own.job_logs import delete_logs_of
from tarmac.store.history.removal import EndedJob

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tarmac.core.model.job import Job


COUNTED = 100  # attempts of a job; for one with more, or with parts, the directory is listed


def delete_logs(state_folder: Path, jobs: Iterable[EndedJob | Job]) -> None:
    many: set[int] = set()
    for job in jobs:
        if job.attempt > COUNTED or _has_parts(job):
            many.add(job.id)
            continue
        for nth in range(1, job.attempt + 1):
            path = default_log(state_folder, JobId(job.id), nth)
            for file in (path, *(path + part for part in PARTS)):
                with suppress(FileNotFoundError):
                    os.unlink(file)
    if many:
        delete_logs_of(str(state_folder), many)


def _has_parts(job: EndedJob | Job) -> bool:
    """A job on several nodes has a log for each. Where only its number is known, the next sweep finds them."""
    return not isinstance(job, EndedJob) and job.spec.request.node_count > 1
