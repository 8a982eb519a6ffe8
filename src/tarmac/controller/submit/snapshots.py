"""The snapshots of a submit, or of copies: which job runs which, and whether their paths make sense."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.core.model.snapshot import Snapshot, leads_elsewhere
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from tarmac.controller.submit.request import JobRequest, SnapshotRequest, SubmitRequest


class SubmittedSnapshots:
    """`is_default`: the setting wants a snapshot of each job that does not say otherwise."""

    def __init__(self, request: SubmitRequest, *, is_default: bool) -> None:
        self._snapshots = [checked_snapshot(one) for one in request.snapshots]
        self._is_expected = is_default and request.can_snapshot

    def of(self, job: JobRequest) -> Snapshot | None:
        if job.snapshot is False:
            return None
        if job.snapshot is None:
            if self._is_expected:
                raise invalid("snapshot.expected")
            return None
        if job.snapshot is True or job.snapshot >= len(self._snapshots):
            raise invalid("snapshot.no_such_index", index=job.snapshot, count=len(self._snapshots))
        return self._snapshots[job.snapshot]

    def all(self) -> list[Snapshot]:
        return self._snapshots


def checked_snapshot(asked: SnapshotRequest) -> Snapshot:
    if not os.path.isabs(asked.root) or "\0" in asked.root:
        raise invalid("snapshot.root_not_absolute", path=asked.root)
    for path in (asked.directory, *asked.links):
        if leads_elsewhere(path):
            raise invalid("snapshot.bad_path", path=path)
    return Snapshot(
        tree=asked.tree,
        root=os.path.normpath(asked.root),
        directory=asked.directory,
        links=asked.links,
        commit=asked.commit,
        branch=asked.branch,
        changed=asked.changed,
    )
