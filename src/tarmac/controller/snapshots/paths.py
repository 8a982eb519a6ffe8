"""Where snapshots and checkouts are in the state directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.shared.snapshots.places import CHECKOUTS

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.core.model.job import Job

OBJECTS = "snapshots.db"


def object_file(state_folder: Path) -> str:
    return str(state_folder / OBJECTS)


def checkout_directory(state_folder: Path, job: int) -> str:
    """The directory that all attempts of the job share."""
    return str(state_folder / CHECKOUTS / str(job))


def checkout_cwd(state_folder: Path, job: Job) -> str | None:
    """The working directory of a job with a snapshot."""
    snapshot = job.spec.snapshot
    if snapshot is None:
        return None
    name = os.path.basename(snapshot.root.rstrip("/")) or "root"
    return os.path.normpath(os.path.join(checkout_directory(state_folder, job.id), name, snapshot.directory))
