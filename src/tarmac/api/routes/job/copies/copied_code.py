"""The code that copies of jobs run: that of the originals, new snapshots, or what is there when they start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.submit.snapshots import checked_snapshot
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.api.schemas.job.selection import CloneRequest
    from tarmac.controller.snapshots.snapshots import Snapshots
    from tarmac.core.model.job import Job
    from tarmac.core.model.snapshot import Snapshot


class CopiedCode:
    """Refuses a request that does not name one snapshot for each of the jobs."""

    def __init__(self, body: CloneRequest, numbers: Iterable[int]) -> None:
        self.is_kept = body.snapshot is None
        self._by_job: dict[int, Snapshot] = {}
        if not isinstance(body.snapshot, dict):
            if body.snapshot:
                raise invalid("snapshot.not_for_each")
            if body.snapshots:
                raise invalid("snapshot.unused")
            return
        indices = {int(number): index for number, index in body.snapshot.items()}
        if set(indices) != set(numbers):
            raise invalid("snapshot.not_for_each")
        snapshots = [checked_snapshot(one) for one in body.snapshots]
        for number, index in indices.items():
            if index >= len(snapshots):
                raise invalid("snapshot.no_such_index", index=index, count=len(snapshots))
            self._by_job[number] = snapshots[index]

    def of(self, job: Job) -> Snapshot | None:
        """What the copy of this job runs."""
        return job.spec.snapshot if self.is_kept else self._by_job.get(job.id)

    def require(self, stored: Snapshots) -> None:
        for snapshot in set(self._by_job.values()):
            stored.require(snapshot)
