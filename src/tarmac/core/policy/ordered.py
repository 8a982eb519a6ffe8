"""Whose turn it is: smaller priority first, then place in the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tarmac.core.queue import Entry


def order(head: Entry) -> tuple[int, int, int]:
    (priority, position), job = head
    return (priority, position, job)
