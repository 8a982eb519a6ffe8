"""Files that a job needs and that its node turns out to lack: the job runs on another node instead.

A submit asks the nodes that are connected. The others, and those that are added later, show it when a job starts there.
That is not a failure of the job, so it counts neither as a retry nor against its owner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model.status import Requeue
from tarmac.core.policy.feasibility import candidates

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import MissingPath
    from tarmac.core.state import State


def run_elsewhere(state: State, job: Job, missing: MissingPath) -> Requeue | None:
    """Avoid the node from now on. None if too few other nodes could run the job: then it fails."""
    spec = job.spec.with_missing([*job.spec.missing, missing])
    if not job.spec.can_run_again or len(candidates(state, spec.request)) < spec.request.node_count:
        return None
    state.edit(job, spec)
    return Requeue(why="missing", missing=missing)
