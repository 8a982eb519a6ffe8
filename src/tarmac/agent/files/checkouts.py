"""Lists the checkouts of jobs, removes those of removed jobs, and the unchanged files of others. For a file helper."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, List

from tarmac.agent.records.checkout_marker import locked, read_marker, remove_marker, write_marker
from tarmac.agent.run.shim.checkout import tree_of
from tarmac.shared import crashpoint
from tarmac.shared.snapshots.checkout import checkout_name, prune
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import BrokenSnapshot

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import ListCheckoutsFrame, PruneEntry, TidyCheckoutsFrame
    from tarmac.shared.frames.to_controller import CheckoutEntry, CheckoutsFrame, CheckoutsTidiedFrame


def list_checkouts(request: ListCheckoutsFrame) -> CheckoutsFrame:
    """Each is named by its job. Other names are not looked at."""
    found: List[CheckoutEntry] = []
    try:
        names = os.listdir(request["directory"])
    except FileNotFoundError:
        names = []
    for name in names:
        if name.isdecimal():
            marker = read_marker(os.fsencode(os.path.join(request["directory"], name)))
            found.append(
                {
                    "job": int(name),
                    "is_pruned": bool(marker and marker.get("is_pruned")),
                    "stamp_ns": marker.get("stamp_ns") if marker else None,
                }
            )
    return {"type": "checkouts", "ref": request.get("ref"), "checkouts": found}


def tidy_checkouts(request: TidyCheckoutsFrame) -> CheckoutsTidiedFrame:
    """What cannot be removed now is tried again with the next request."""
    for path in request["remove"]:
        shutil.rmtree(path, ignore_errors=True)
    for entry in request["prune"]:
        try:
            _prune(entry)
        except (OSError, BrokenSnapshot):
            continue
    return {"type": "checkouts_tidied", "ref": request.get("ref")}


def _prune(entry: PruneEntry) -> None:
    """Unless a later attempt of the job uses the checkout."""
    directory = os.fsencode(entry["checkout"])
    with locked(directory):
        marker = read_marker(directory)
        if marker is None or marker.get("attempt") != entry["attempt"] or marker.get("tree") != entry["tree"]:
            return
        write_marker(directory, {**marker, "is_full": False})
        crashpoint.reach("files:before-prune")
        objects = ObjectFile(entry["objects"])
        try:
            tree = tree_of(entry, objects)
            is_gone = prune(tree, os.path.join(directory, checkout_name(tree.root)))
        finally:
            objects.close()
        crashpoint.reach("files:after-prune")
        if is_gone:
            remove_marker(directory)
            os.rmdir(directory)
        else:
            write_marker(directory, {**marker, "is_full": False, "is_pruned": True})
