"""What a start that does not complete waits for: a path on a file system that does not answer.

The command's process enters the working directory, opens the logs and executes the program. Each of these may hang.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.controller.log_paths import stderr_path, stdout_path
from tarmac.core.model.status import Starting, Stopping
from tarmac.nodes.facts import check_paths

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.nodes.fleet import Fleet


class StartWaits:
    def __init__(self, fleet: Fleet, state_folder: Path) -> None:
        self._fleet = fleet
        self._state_folder = state_folder
        self._silent: dict[JobId, str] = {}

    def of(self, job: Job) -> str | None:
        """The path that its start waits for, as last asked."""
        return self._silent.get(job.id) if _is_starting(job) else None

    async def refresh(self, job: Job) -> None:
        """Ask the node. Takes a moment, and a second if a file system hangs for the first time."""
        self._silent.pop(job.id, None)
        if not _is_starting(job):
            return
        assert isinstance(job.status, Starting | Stopping)
        program = job.spec.command[0] if job.spec.command else ""
        directories = [job.spec.cwd, *([os.path.dirname(program)] if program.startswith("/") else [])]
        outputs = sorted({path(self._state_folder, job, job.attempt) for path in (stdout_path, stderr_path)})
        facts = await check_paths(self._fleet, job.status.booking.node, directories, outputs)
        if facts is not None:
            found = [path for path, answer in zip(directories, facts.directories, strict=True) if answer is None]
            found += [path for path, answer in zip(outputs, facts.outputs, strict=True) if answer == "silent"]
            if found:
                self._silent[job.id] = found[0]


def _is_starting(job: Job) -> bool:
    """True from the decision to the report that its command runs."""
    match job.status:
        case Starting(adopted_pid=None):
            return True
        case Stopping(started_at=None):
            return True
        case _:
            return False
