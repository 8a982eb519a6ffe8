"""The paths of a job's output files."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def default_log(state_folder: Path, job: JobId, attempt: int) -> str:
    return f"{state_folder}/logs/{job}.{attempt}.log"


def stdout_path(state_folder: Path, job: Job, attempt: int) -> str:
    return job.spec.stdout or default_log(state_folder, job.id, attempt)


def stderr_path(state_folder: Path, job: Job, attempt: int) -> str:
    """The same file as stdout unless the owner asked for two."""
    return job.spec.stderr or stdout_path(state_folder, job, attempt)


def output_paths(state_folder: Path, job: Job, attempt: int) -> list[str]:
    """Where an attempt writes: one file, or two."""
    return list(dict.fromkeys(find(state_folder, job, attempt) for find in (stdout_path, stderr_path)))


def running_with_logs(state: State) -> Iterator[tuple[Job, Booking]]:
    """The jobs on connected nodes whose commands have started and whose output is redirected."""
    for number in [number for node in state.nodes.values() if node.is_connected for number in node.host]:
        job = state.jobs[number]
        booking = holds_booking(job.status)
        if booking is not None and getattr(job.status, "started_at", None) is not None and not is_elsewhere(job):
            yield job, booking
