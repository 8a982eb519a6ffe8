"""Stops that were signalled while nothing could be written. They are decided on once that is possible again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.events import StopAsked
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.state import State


class UnrecordedStops:
    def __init__(self) -> None:
        self._stops: dict[JobId, StopAsked] = {}

    def add(self, stop: StopAsked) -> None:
        self._stops[stop.job] = stop

    def take(self, state: State, node: NodeName) -> Iterator[StopAsked]:
        """The stops of jobs on a node that has joined again."""
        for job in [job for job in self._stops if job not in state.jobs]:
            del self._stops[job]  # ended: its node reported that it was asked to stop
        for job in [job for job in self._stops if job in state.node(node).host]:
            yield self._stops.pop(job)
