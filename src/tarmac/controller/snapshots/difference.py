"""Compares two stored snapshots, in a thread. Bounded: what is left out can be seen with `tarmac diff`."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.snapshots.paths import object_file
from tarmac.refusal import not_found
from tarmac.shared.snapshots.compare import Side, differences, text_of
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import BrokenSnapshot, walk

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller

MOST_FILES = 300
MOST_LINES = 3000
LONGEST_TEXT_LINES = 5000
LARGEST_TEXT_BYTES = 256 << 10  # larger files would occupy the controller for seconds


class ChangedFile(NamedTuple):
    path: str
    change: str
    lines: list[str]  # of a unified diff; empty if they were left out


class TreeDifference(NamedTuple):
    files: list[ChangedFile]
    more_files: int  # that are left out
    is_cut: bool  # lines are left out


async def difference(controller: Controller, before: str, after: str) -> TreeDifference:
    """From one tree to another."""
    path = object_file(controller.state_folder)
    async with controller.report_slots:
        try:
            return await asyncio.to_thread(_compare, path, before, after)
        except BrokenSnapshot as error:
            raise not_found("snapshot.broken", trouble=str(error)) from None


def _compare(path: str, before: str, after: str) -> TreeDifference:
    with closing(ObjectFile(path)) as objects:
        old, new = (
            Side({found.path: found.entry for found in walk(objects.read, bytes.fromhex(tree))}, objects.read)
            for tree in (before, after)
        )
        found = differences(old.entries, new.entries)
        files: list[ChangedFile] = []
        left = MOST_LINES
        is_cut = False
        for one in found[:MOST_FILES]:
            lines = list(text_of(one, old, new, LARGEST_TEXT_BYTES, LONGEST_TEXT_LINES))[1:] if left > 0 else []
            is_cut = is_cut or left <= 0 or len(lines) > left
            files.append(ChangedFile(one.path.decode("utf-8", "backslashreplace"), one.kind, lines[: max(0, left)]))
            left -= len(lines)
    return TreeDifference(files, max(0, len(found) - MOST_FILES), is_cut)
