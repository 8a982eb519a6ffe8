"""Takes a snapshot of the directory that a job is submitted from, and makes sure that the controller has it."""

from __future__ import annotations

import os

from tarmac.client.snapshots.diff.work_tree import WorkTree
from tarmac.client.snapshots.files.links import checked_links
from tarmac.client.snapshots.largest import too_large
from tarmac.client.snapshots.unchanged.record import Record
from tarmac.client.snapshots.upload import Changed, state_of, upload
from tarmac.errors import UserError
from tarmac.shared.snapshots.objects import top_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tarmac.client.connection import Link
    from tarmac.client.snapshots.scan import Scan

    Note = Callable[[str], object]

_TRIES = 4
_SURELY_SMALL_BYTES = 64 << 20  # a larger tree is measured before it is read
_NO_TREE = bytes(32)


def take(client: Link, cwd: str, links: Sequence[str], note: Note, *, is_lost: bool = False) -> dict[str, Any]:
    """The snapshot of the directory's work tree as a submit names it. `note` is called with each remark.

    If nothing changed since the last time, the controller is taken to have the snapshot. It refuses the submit if it
    does not: then take it again with `is_lost`.
    """
    for _ in range(_TRIES):
        directory = os.path.realpath(os.fsencode(cwd))
        if not os.path.isdir(directory):
            raise UserError(f"cwd {cwd} is not a directory", "create it first, or choose another one with --cwd")
        taking = _Taking(client, directory, links)
        try:
            found = taking.take(is_lost=is_lost)
        except Changed:
            continue
        finally:
            taking.work_tree.close()
        if found is not None:
            for remark in taking.work_tree.notes:
                note(remark)
            return found
    raise UserError(
        "the files change while the snapshot is taken", "wait until nothing writes to them, or use --link for those"
    )


class _Taking:
    """One try."""

    def __init__(self, client: Link, directory: bytes, links: Sequence[str]) -> None:
        self._client = client
        self.work_tree = WorkTree(directory, client.state)
        self._links = checked_links(self.work_tree.root, directory, links)
        self._record = Record(self.work_tree, self._links)
        self._sizes: dict[bytes, int] = {}

    def take(self, *, is_lost: bool) -> dict[str, Any] | None:
        """None if the controller removed objects meanwhile."""
        known = None if is_lost else self._record.known_tree()
        if known is not None:
            return self._request(known)
        scanned = self.work_tree.scan(self._links, self._check_sizes)
        tree = self._stored(scanned)
        return None if tree is None else self._request(tree)

    def _check_sizes(self, sizes: dict[bytes, int]) -> None:
        self._sizes = sizes
        if sum(sizes.values()) > _SURELY_SMALL_BYTES:
            self._refuse_too_large(state_of(self._client, _NO_TREE)["limit_bytes"])

    def _stored(self, scanned: Scan) -> bytes | None:
        """The name of the tree, once the controller has it."""
        tree, directories = self.work_tree.tree(scanned)
        state = state_of(self._client, tree)
        if not state["is_stored"]:
            self._refuse_too_large(state["limit_bytes"])
            if directories is None:
                tree, directories = top_object(scanned.entries())
            if not upload(self._client, tree, directories, scanned):
                return None
        self.work_tree.remember(scanned, tree)
        self._record.keep(scanned, tree)
        return tree

    def _refuse_too_large(self, limit: int) -> None:
        if sum(self._sizes.values()) > limit:
            raise too_large(self._sizes, limit)

    def _request(self, tree: bytes) -> dict[str, Any]:
        work_tree = self.work_tree
        return {
            "tree": tree.hex(),
            "root": os.fsdecode(work_tree.root),
            "directory": os.fsdecode(work_tree.inside),
            "links": [os.fsdecode(link) for link in self._links],
            "commit": work_tree.listing.commit,
            "branch": work_tree.listing.branch,
            "changed": work_tree.listing.changed,
        }
