"""Work of users in threads, one piece per user at a time, so that nobody takes all threads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Turns:
    def __init__(self) -> None:
        self._locks: dict[int, asyncio.Lock] = {}

    async def run(self, uid: int, work: Callable[[], T]) -> T:
        """Do the work in a thread once the work of this user that was asked for before has ended.

        A thread cannot be stopped: if the caller is cancelled, the next piece of work still waits for this one.
        """
        lock = self._locks.setdefault(uid, asyncio.Lock())
        await lock.acquire()
        task = asyncio.ensure_future(asyncio.to_thread(work))
        task.add_done_callback(lambda _: lock.release())
        return await asyncio.shield(task)
