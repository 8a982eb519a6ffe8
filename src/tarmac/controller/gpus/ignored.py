"""Single processes that do not count as use of a GPU, stored across restarts of the controller.

A process is identified by its node, the node's boot, its pid and its start time: a later process with the same pid is
another one.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import msgspec

from tarmac.core.model.ids import NodeName
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


SETTING = "ignored_pids"  # stored with the settings, but not set by users


@dataclass(slots=True)
class _Boot:
    """The ignored processes of one boot of a machine."""

    boot_id: str
    starts: dict[int, int] = field(default_factory=dict)  # start time by pid


class IgnoredProcesses:
    """`stored` is the text of an earlier controller; in its oldest format it is about the home node alone."""

    def __init__(self, stored: str | None, home: NodeName, boot_of: Callable[[NodeName], str | None]) -> None:
        self._boots: dict[NodeName, _Boot] = _read(stored or "", home)
        self._boot_of = boot_of

    def starts_on(self, node: NodeName) -> Mapping[int, int]:
        """The start time of each ignored process of a node, by pid."""
        known = self._boots.get(node)
        return {} if known is None or self._boot_of(node) not in (None, known.boot_id) else known.starts

    def pids(self) -> list[int]:
        return sorted(pid for node in self._boots for pid in self.starts_on(node))

    def add(self, node: NodeName, boot_id: str, pid: int, start_time: int) -> None:
        known = self._boots.get(node)
        if known is None or known.boot_id != boot_id:
            known = self._boots[node] = _Boot(boot_id)
        known.starts[pid] = start_time

    def discard(self, node: NodeName, processes: Collection[tuple[int, int]]) -> None:
        """Drop these processes of the node, given as pid and start time."""
        if (known := self._boots.get(node)) is not None:
            known.starts = {pid: start for pid, start in known.starts.items() if (pid, start) not in processes}

    def copy(self) -> IgnoredProcesses:
        """To be changed in a plan, which must not change what is in force."""
        copied = IgnoredProcesses(None, NodeName(""), self._boot_of)
        copied._boots = {node: _Boot(boot.boot_id, dict(boot.starts)) for node, boot in self._boots.items()}
        return copied

    def replace_with(self, changed: IgnoredProcesses) -> Callable[[], None]:
        """Put a changed copy in force, as a part of a decision. Returns what takes it back."""
        before, self._boots = self._boots, changed._boots

        def undo() -> None:
            self._boots = before

        return undo

    def text(self) -> str | None:
        """For the store; None if nothing is to be stored."""
        boots = {node: boot for node, boot in self._boots.items() if boot.starts}
        return msgspec.json.encode(boots).decode() if boots else None


def _read(stored: str, home: NodeName) -> dict[NodeName, _Boot]:
    if stored.startswith("{"):
        return msgspec.json.decode(stored, type=dict[NodeName, _Boot])
    boot_id, *entries = stored.split() or [""]
    starts = {int(pid): int(start) for pid, _, start in (entry.partition(":") for entry in entries)}
    return {home: _Boot(boot_id, starts)} if starts else {}
