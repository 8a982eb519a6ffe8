"""The snapshot of a job as the API shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.job.job import SnapshotView
from tarmac.controller.snapshots.paths import checkout_cwd

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job


def snapshot_view(controller: Controller, job: Job) -> SnapshotView | None:
    snapshot, checkout = job.spec.snapshot, checkout_cwd(controller.state_folder, job)
    if snapshot is None or checkout is None:
        return None
    return SnapshotView(
        tree=snapshot.tree,
        root=snapshot.root,
        links=list(snapshot.links),
        commit=snapshot.commit,
        branch=snapshot.branch,
        changed=snapshot.changed,
        is_stored=controller.snapshots.is_known(snapshot.tree),
        checkout=_on_node(controller, job, checkout),
    )


def _on_node(controller: Controller, job: Job, path: str) -> str:
    """The path of a file in the state directory, as the node has it that the job is or was on."""
    booking = getattr(job.status, "booking", None)
    joined = None if booking is None else controller.nodes.joined(booking.node)
    own = str(controller.state_folder)
    return path if joined is None or not path.startswith(f"{own}/") else joined.state + path[len(own) :]
