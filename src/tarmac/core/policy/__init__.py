"""Which waiting job starts next and where: eligible → ordered → placed → checked.

Each step is one small pure function in a file of its own. `explain` asks the same ones.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING

from tarmac.core.policy.checked import refusal
from tarmac.core.policy.eligible import eligible
from tarmac.core.policy.ordered import order
from tarmac.core.policy.placed import place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model import Booking, Job
    from tarmac.core.state import State

__all__ = ["decisions"]


def decisions(state: State) -> Iterator[tuple[Job, Booking]]:
    """The starts of one pass, best first. The caller applies each before asking for the next.

    The cost follows the number of classes and of starts, not the length of the queue.
    """
    heads = [(order(entry), klass) for klass in eligible(state) if (entry := klass.head()) is not None]
    heap = [(key, number, klass) for number, (key, klass) in enumerate(heads)]
    heapify(heap)
    while heap:
        _, number, klass = heap[0]
        entry = klass.head()
        assert entry is not None, "a class in the heap has a head"
        job = state.jobs[entry[1]]
        booking = place(state, job.spec.request)
        if booking is None or refusal(state, job, booking) is not None:
            heappop(heap)
            continue
        yield job, booking
        following = klass.head() if klass.waiting else None
        if following is None:
            heappop(heap)
        else:
            heapreplace(heap, (order(following), number, klass))
