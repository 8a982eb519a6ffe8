"""Which classes of jobs may start at all, before any GPU is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.queue import JobClass
    from tarmac.core.state import State


def eligible(state: State) -> Iterable[JobClass]:
    """Every class, as long as some node is in reach. Limits and pauses narrow this down later."""
    if not any(node.is_connected for node in state.nodes.values()):
        return ()
    return state.queue.classes.values()
