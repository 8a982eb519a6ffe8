"""Finds out whether a directory of this machine and the one with the same path on a node are the same.

A file with a random name is written here and looked for there. Its name is noted in the state directory first, so that
even a killed controller leaves none behind.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from tarmac.nodes.facts import check_paths

if TYPE_CHECKING:
    from tarmac.core.model.ids import NodeName
    from tarmac.nodes.fleet import Fleet

DIRECTORY = "probes"  # in the state directory: each entry is a link to a file that was written elsewhere
NAME = ".tarmac-probe-"


class SharedDirectories:
    def __init__(self, fleet: Fleet, state_folder: Path) -> None:
        self._fleet = fleet
        self._notes = state_folder / DIRECTORY
        self._known: dict[tuple[str, str, str | None], bool] = {}  # by directory, node and its boot

    def clean(self) -> None:
        """Remove what a killed controller left."""
        for note in self._notes.iterdir() if self._notes.is_dir() else ():
            _remove(Path(os.readlink(note)), note)

    async def is_shared(self, node: NodeName, directory: str) -> bool | None:
        """None if that is not known: the directory cannot be written, or the node does not answer."""
        key = (directory, node, self._fleet.boot_id(node))
        if key not in self._known:
            answer = await self._probe(node, directory)
            if answer is None:
                return None
            self._known[key] = answer
        return self._known[key]

    async def _probe(self, node: NodeName, directory: str) -> bool | None:
        probe = Path(directory) / f"{NAME}{secrets.token_hex(16)}"
        note = self._notes / probe.name
        try:
            await asyncio.to_thread(self._write, probe, note)
            facts = await check_paths(self._fleet, node, (), (), present=(str(probe),))
        except OSError:
            return None
        finally:
            await asyncio.shield(asyncio.to_thread(_remove, probe, note))
        return None if facts is None else facts.present[0]

    def _write(self, probe: Path, note: Path) -> None:
        self._notes.mkdir(mode=0o700, exist_ok=True)
        note.symlink_to(probe)
        with probe.open("xb"):
            pass


def _remove(probe: Path, note: Path) -> None:
    try:
        if probe.name.startswith(NAME):
            probe.unlink(missing_ok=True)
        note.unlink(missing_ok=True)
    except OSError:
        pass  # its file system is gone; the note stays, and the next start tries again
