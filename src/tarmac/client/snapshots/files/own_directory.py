"""Keeps Tarmac's state directory, which contains the database and secrets, out of every snapshot."""

from __future__ import annotations

import os

from tarmac.errors import UserError
from tarmac.shared.snapshots.places import CHECKOUTS


def root_outside(own: bytes, directory: bytes, git_root: bytes | None) -> bytes | None:
    """The git work tree to store, if any. Refuses a directory in Tarmac's own one, except in a job's checkout."""
    if not is_within(directory, own):
        return git_root
    checkouts = os.path.join(own, os.fsencode(CHECKOUTS))
    job, *below = os.path.relpath(directory, checkouts).split(b"/")
    if not is_within(directory, checkouts) or not below:
        raise UserError(
            f"{os.fsdecode(directory)} is in Tarmac's own directory, which a snapshot never contains",
            "choose another directory with --cwd, or use --no-snapshot",
        )
    return git_root if git_root is not None and is_within(git_root, os.path.join(checkouts, job)) else None


def is_within(path: bytes, directory: bytes) -> bool:
    return path == directory or path.startswith(directory.rstrip(b"/") + b"/")
