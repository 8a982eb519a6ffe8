"""Work in threads: one piece per user at a time."""

import asyncio
import threading

import pytest

from tarmac.controller.requests.turns import Turns


def test_the_work_of_a_user_waits_for_a_thread_whose_caller_is_gone() -> None:
    asyncio.run(_waits())


async def _waits() -> None:
    turns, can_end, done = Turns(), threading.Event(), list[str]()

    def slow() -> None:
        can_end.wait(10)
        done.append("slow")

    first = asyncio.ensure_future(turns.run(1, slow))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = asyncio.ensure_future(turns.run(1, lambda: done.append("second")))
    await turns.run(2, lambda: done.append("another user"))
    assert done == ["another user"]
    can_end.set()
    await second
    assert done == ["another user", "slow", "second"]
