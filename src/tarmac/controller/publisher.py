"""Tells whoever listens what changed: event streams and those who wait for a job to end.

A listener that does not keep up is told to look again (`Missed`) instead of filling the memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import JobId

MOST_PENDING = 10_000


@dataclass(frozen=True, slots=True)
class JobChanged:
    job: JobId
    event: int | None  # id of the newest stored event, for resuming


@dataclass(frozen=True, slots=True)
class GpusChanged:
    node: str


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Paused, draining, or neither any more."""


@dataclass(frozen=True, slots=True)
class Missed:
    """More happened than was fetched in time."""


Notice: TypeAlias = JobChanged | GpusChanged | QueueChanged | Missed


@dataclass(slots=True, eq=False)
class Listener:
    pending: deque[Notice] = field(default_factory=deque)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, notice: Notice) -> None:
        if len(self.pending) >= MOST_PENDING:
            self.pending.clear()
            notice = Missed()
        self.pending.append(notice)
        self.woken.set()

    async def take(self, timeout_s: float) -> list[Notice]:
        """Everything pending; empty after the timeout."""
        try:
            async with asyncio.timeout(timeout_s):
                await self.woken.wait()
        except TimeoutError:
            return []
        self.woken.clear()
        taken = list(self.pending)
        self.pending.clear()
        return taken


class Publisher:
    def __init__(self) -> None:
        self._listeners: set[Listener] = set()

    def listen(self) -> Listener:
        listener = Listener()
        self._listeners.add(listener)
        return listener

    def unlisten(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def tell(self, notices: Iterable[Notice]) -> None:
        if not self._listeners:
            return
        told = list(notices)
        for listener in self._listeners:
            for notice in told:
                listener.put(notice)

    def wake_all(self) -> None:
        """So that streams notice that the controller is about to end."""
        for listener in self._listeners:
            listener.woken.set()
