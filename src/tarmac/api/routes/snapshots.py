"""Snapshots: a client sends the objects of a tree that are missing, then the tree, then the jobs that run it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from tarmac.api.deps import Context
from tarmac.api.route import BYTES
from tarmac.api.routes.job.jobs import find_job
from tarmac.api.schemas.snapshots import (
    AddedObjects,
    DiffQuery,
    FileDiff,
    MissingObjects,
    PutSnapshotRequest,
    SnapshotDiff,
    SnapshotState,
)
from tarmac.controller.requests.permissions import refuse_others_jobs
from tarmac.controller.snapshots.difference import difference
from tarmac.refusal import conflict, invalid

if TYPE_CHECKING:
    from tarmac.core.model.job import Job

_TREE = re.compile("[0-9a-f]{64}")


async def show_snapshot(context: Context, tree: str) -> SnapshotState:
    """Is this tree stored? If it is, it stays for at least an hour, so that a job can be submitted with it."""
    return _state(context, tree, is_stored=context.controller.snapshots.has(_checked(tree)))


async def put_snapshot(context: Context, tree: str, _: PutSnapshotRequest) -> SnapshotState:
    """Enter a tree whose objects are stored. If some of them are missing, `is_stored` is false."""
    controller = context.controller
    limit = controller.settings.in_force.snapshot_limit
    return _state(context, tree, is_stored=await controller.snapshots.add_tree(_checked(tree), limit))


async def missing_objects(context: Context, hashes: bytes) -> MissingObjects:
    """Which of these objects are not stored? The body has hashes of 32 bytes, one after the other."""
    return MissingObjects(missing=await context.controller.snapshots.missing(hashes))


async def add_objects(context: Context, pack: bytes) -> AddedObjects:
    """Store objects. The body has each as its hash (32 bytes), its length (4 bytes, big-endian) and its content."""
    return AddedObjects(added=await context.controller.snapshots.add(pack))


async def job_objects(context: Context, word: str, hashes: bytes) -> Response:
    """Read objects of a job's snapshot. Body and answer are those of /snapshots/missing and /snapshots/objects."""
    objects = await context.controller.snapshots.read(_tree_of(context, find_job(context, word)), hashes)
    return Response(objects, media_type=BYTES)


async def diff_snapshots(context: Context, word: str, query: DiffQuery) -> SnapshotDiff:
    """What changed in the code since another job. Only the owners of both jobs and admins may ask."""
    before, after = find_job(context, query.other), find_job(context, word)
    trees = [_tree_of(context, job) for job in (before, after)]
    found = await difference(context.controller, *trees)
    return SnapshotDiff(
        before=before.id,
        after=after.id,
        files=[msgspec.convert(file._asdict(), FileDiff) for file in found.files],
        more_files=found.more_files,
        cut=found.is_cut,
    )


def _tree_of(context: Context, job: Job) -> str:
    """The tree that the job runs, if the caller may read it and it is stored."""
    if not context.caller.is_admin:
        refuse_others_jobs([job], context.caller)
    if job.spec.snapshot is None:
        raise conflict("snapshot.none", job=job.id)
    if not context.controller.snapshots.is_known(job.spec.snapshot.tree):
        raise conflict("snapshot.removed", job=job.id)
    return job.spec.snapshot.tree


def _checked(tree: str) -> str:
    if not _TREE.fullmatch(tree):
        raise invalid("snapshot.not_a_hash", tree=tree)
    return tree


def _state(context: Context, tree: str, *, is_stored: bool) -> SnapshotState:
    limit = context.controller.settings.in_force.snapshot_limit
    return SnapshotState(tree=tree, is_stored=is_stored, limit_bytes=limit)
