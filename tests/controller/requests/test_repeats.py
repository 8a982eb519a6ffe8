import asyncio
from typing import Any, cast

from tarmac.controller.requests.repeats import Key, Repeats

KEY = Key("ann", "POST /queue/pause key")


def repeats() -> Repeats:
    nothing = cast("Any", None)  # neither the engine nor the reader is asked
    return Repeats(nothing, nothing)


def test_requests_with_one_key_are_handled_one_after_the_other() -> None:
    assert asyncio.run(most_at_once()) == 1


async def most_at_once() -> int:
    turns = repeats()
    under_way = most = 0

    async def handle() -> None:
        nonlocal under_way, most
        async with turns.turn(KEY):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    async def arrive_as_the_first_leaves() -> None:
        async with turns.turn(KEY):
            await asyncio.sleep(0)
        # The lock is handed to the second request only when the loop goes on.
        await handle()

    async with asyncio.timeout(20):
        await asyncio.gather(arrive_as_the_first_leaves(), handle(), handle())
    return most


def test_nothing_is_kept_of_requests_that_are_over() -> None:
    assert asyncio.run(kept_of_failures()) == 0


async def kept_of_failures() -> int:
    turns = repeats()

    async def fail() -> None:
        async with turns.turn(KEY):
            await asyncio.sleep(0)
            raise ValueError

    waiting = asyncio.ensure_future(fail())
    cancelled = asyncio.ensure_future(fail())
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(waiting, cancelled, fail(), return_exceptions=True)
    return turns.under_way
