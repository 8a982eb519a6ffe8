"""Counts the use of GPUs up to an event that may free them, while their jobs still hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.gpus.usage import jobs_with_gpus
from tarmac.core.events import NodeJoined, Reported
from tarmac.core.model.status import holds_booking

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.controller.gpus.usage import UsageBook
    from tarmac.core.events import Event
    from tarmac.core.model.ids import NodeName
    from tarmac.core.state import State


class Settling:
    """Of one turn: each node is settled once, and only if something happened there."""

    def __init__(self, usage: UsageBook, state: State, now: float) -> None:
        self._usage = usage
        self._state = state
        self._now = now
        self._settled: set[NodeName] = set()

    def before(self, event: Event) -> None:
        for node in self._nodes(event):
            if node not in self._settled:
                self._usage.settle(jobs_with_gpus(self._state, node), self._now, node)
                self._settled.add(node)

    def _nodes(self, event: Event) -> Iterable[NodeName]:
        """The end of a job frees its GPUs on all its nodes."""
        if isinstance(event, NodeJoined):
            return (event.node,)
        if not isinstance(event, Reported):
            return ()
        job = self._state.jobs.get(event.report.job)
        booking = None if job is None else holds_booking(job.status)
        others = () if booking is None else booking.nodes
        return dict.fromkeys((event.node, *others))
