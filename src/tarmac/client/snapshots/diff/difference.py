"""Compares the snapshot of a job with that of another one, or with the files in its original directory now."""

from __future__ import annotations

import os
from typing import NamedTuple

from tarmac.client.snapshots.diff.stored import StoredTree
from tarmac.client.snapshots.diff.work_tree import WorkTree
from tarmac.client.snapshots.scan import read_again
from tarmac.errors import UserError
from tarmac.shared.snapshots.compare import Difference, Side, differences
from tarmac.shared.snapshots.objects import top_object, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.client.jobs import Id, Jobs


class Compared(NamedTuple):
    differences: list[Difference]
    before: Side
    after: Side
    close: Callable[[], None]


def compared(client: Jobs, job: Id, other: Id | None = None) -> Compared:
    """From the first to the second, or to what is there now. `close` it when the texts have been read."""
    stored = StoredTree(client, job)
    before = Side(stored.entries, stored.read)
    if other is None:
        after, close = _now(stored, client.state)
    else:
        second = StoredTree(client, other)
        after, close = Side(second.entries, second.read), lambda: None
    found = differences(before.entries, after.entries)
    stored.want([one.before for one in found if one.before is not None])
    if other is not None:
        second.want([one.after for one in found if one.after is not None])
    return Compared(found, before, after, close)


def _now(stored: StoredTree, state: str) -> tuple[Side, Callable[[], None]]:
    root = os.fsencode(stored.snapshot["root"])
    if not os.path.isdir(root):
        raise UserError(
            f"{stored.snapshot['root']}, where job {stored.number} was submitted, does not exist",
            "compare it with another job: `tarmac diff ID ID`",
        )
    work_tree = WorkTree(root, state)
    scanned = work_tree.scan([os.fsencode(link) for link in stored.snapshot["links"]])
    top, directories = top_object(scanned.entries())
    work_tree.remember(scanned, top)
    places, ready = scanned.places(), scanned.lists()

    def read(digest: bytes) -> bytes:
        if digest in ready:
            return ready[digest]
        return scanned.contents.get(digest) or read_again(scanned.root_fd, places[digest])

    entries = {found.path: found.entry for found in walk(directories.__getitem__, top)}
    return Side(entries, read), work_tree.close
