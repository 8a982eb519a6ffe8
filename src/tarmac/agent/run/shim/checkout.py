"""The checkout of a job with a snapshot: made before its first attempt, and completed before the others.

It runs in the command's process before exec, so a file system that hangs hurts this job only. All attempts of a job
share the checkout: a job that continues from a checkpoint in its working directory finds it there.
"""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING, Optional

from tarmac.agent.records.checkout_marker import Marker, locked, read_marker, write_marker
from tarmac.agent.run.start_request import working_directory
from tarmac.shared import crashpoint
from tarmac.shared.snapshots import damage_message
from tarmac.shared.snapshots.checkout import Tree, checkout_name, fill
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import BrokenSnapshot
from tarmac.shared.system.proc import read_boot_id

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import SnapshotEntry

_PART = b"part"  # the file that is being written


class NoCheckout(Exception):
    """The message is shown to the owner of the job."""

    def __init__(self, message: str, *, is_full: bool = False, missing: Optional[str] = None) -> None:
        super().__init__(message)
        self.is_full = is_full
        self.missing = missing  # a path that --link names and that is not on this node


def make_checkout(entry: SnapshotEntry, attempt: int) -> str:
    """Return the working directory in it."""
    _refuse_missing_links(entry)
    try:
        directory = os.fsencode(entry["checkout"])
        os.makedirs(os.path.dirname(directory), mode=0o700, exist_ok=True)
        with locked(directory, make=True):
            _complete(entry, directory, attempt)
    except BrokenSnapshot as error:
        raise NoCheckout(damage_message.damaged(error)) from None
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        where = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        raise NoCheckout(damage_message.no_checkout(f"{where}{error.strerror}"), is_full=is_full) from None
    return working_directory(entry)


def _refuse_missing_links(entry: SnapshotEntry) -> None:
    for link in entry["links"]:
        path = os.path.join(entry["root"], link)
        if not os.path.lexists(path):
            raise NoCheckout(damage_message.no_checkout(f"{path} does not exist on this node (--link)"), missing=path)


def _complete(entry: SnapshotEntry, directory: bytes, attempt: int) -> None:
    marker = read_marker(directory) or Marker()
    before = marker.get("stamp_ns")
    is_done = marker.get("tree") == entry["tree"] and marker.get("is_full", False)
    now = Marker(
        tree=entry["tree"],
        stamp_ns=before or int(time.time()) * 10**9,  # whole seconds: some file systems store no more
        boot_id=read_boot_id(),
        is_full=False,
        is_pruned=False,
        attempt=attempt,
    )
    if not is_done or marker.get("boot_id") != now["boot_id"]:
        write_marker(directory, now)
        crashpoint.reach("checkout:before-fill")
        _fill(entry, directory, now["stamp_ns"], verify=before is not None)
        crashpoint.reach("checkout:after-fill")
    write_marker(directory, {**now, "is_full": True})


def _fill(entry: SnapshotEntry, directory: bytes, stamp_ns: int, *, verify: bool) -> None:
    objects = ObjectFile(entry["objects"])
    try:
        tree = tree_of(entry, objects)
        target = os.path.join(directory, checkout_name(tree.root))
        os.makedirs(target, mode=0o700, exist_ok=True)
        fill(tree, target, os.path.join(directory, _PART), stamp_ns, verify=verify)
        os.makedirs(os.path.join(target, os.fsencode(entry["directory"])), exist_ok=True)
    finally:
        objects.close()


def tree_of(entry: SnapshotEntry, objects: ObjectFile) -> Tree:
    links = [os.fsencode(link) for link in entry["links"]]
    return Tree(objects.read, bytes.fromhex(entry["tree"]), os.fsencode(entry["root"]), links)
