"""Requests and answers about snapshots: the uploads of a client."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class SnapshotState(Struct, kw_only=True):
    tree: str
    is_stored: bool
    limit_bytes: int  # the setting snapshot_limit


class PutSnapshotRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """No fields: the tree is named by the address, and its objects were sent before."""


class MissingObjects(Struct, kw_only=True):
    missing: list[int]  # places in the list of hashes that was sent


class DiffQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    other: str  # the job whose snapshot is the earlier one


class FileDiff(Struct, kw_only=True):
    path: str
    change: Literal["added", "removed", "changed"]
    lines: list[str]  # of a unified diff


class SnapshotDiff(Struct, kw_only=True):
    """What changed from the snapshot of `before` to that of `after`."""

    before: int
    after: int
    files: list[FileDiff]
    more_files: int  # that are left out
    cut: bool  # lines are left out


class AddedObjects(Struct, kw_only=True):
    added: int
