"""The message about a tree that is too large, with the directories that make it so."""

from __future__ import annotations

import os

from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED = 5
_LEAST = 0.05  # of the whole
_PART = 0.8  # a directory that holds this much of its parent is named instead of it


def too_large(sizes: Mapping[bytes, int], limit: int) -> UserError:
    from tarmac.shared.units import size

    named = ", ".join(f"{os.fsdecode(path)} {size(count)}" for path, count in largest_directories(sizes))
    example = os.fsdecode(largest_directories(sizes)[0][0]).rstrip("/")
    return UserError(
        f"the snapshot would have {size(sum(sizes.values()))}; the limit is {size(limit)}. Largest: {named}",
        f"leave them out: in .gitignore (without git: .tarmacignore), or as links with `--link {example}`; "
        "or raise the limit with `tarmac set snapshot_limit`",
    )


def largest_directories(sizes: Mapping[bytes, int]) -> list[tuple[bytes, int]]:
    """The largest directories, with a slash at the end, and files at the top."""
    totals: dict[bytes, int] = {}
    for path, count in sizes.items():
        parts = path.split(b"/")
        for depth in range(1, len(parts)):
            directory = b"/".join(parts[:depth]) + b"/"
            totals[directory] = totals.get(directory, 0) + count
        if len(parts) == 1:
            totals[path] = totals.get(path, 0) + count
    for directory in sorted(totals, key=len, reverse=True):
        parent = directory.rstrip(b"/").rpartition(b"/")[0] + b"/"
        if totals.get(parent, 0) and totals.get(directory, 0) >= _PART * totals[parent]:
            totals[parent] = 0  # nearly all of it is in the directory below
    tops: dict[bytes, int] = {}
    for directory, count in sorted(totals.items(), key=lambda pair: -pair[1]):
        if count and not any(directory.startswith(top) for top in tops if top.endswith(b"/")):
            tops[directory] = count
    least = _LEAST * sum(sizes.values())
    return [(path, count) for path, count in tops.items() if count >= least][:_NAMED] or list(tops.items())[:1]
