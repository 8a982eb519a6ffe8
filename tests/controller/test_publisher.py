"""Listeners get what concerns them, and cost nothing otherwise."""

import asyncio

from tarmac.controller import publisher
from tarmac.controller.publisher import GpusChanged, JobChanged, Missed, Publisher, QueueChanged
from tarmac.core.model.ids import JobId


def changed(job: int) -> JobChanged:
    return JobChanged(JobId(job), job)


def test_a_listener_to_jobs_is_not_woken_for_others() -> None:
    told = Publisher()
    one, two, all_of_it = told.listen([1]), told.listen([1, 2]), told.listen()
    told.publish([changed(2), changed(3), GpusChanged("desk"), QueueChanged()])
    assert (list(one.pending), list(two.pending), len(all_of_it.pending)) == ([], [changed(2)], 4)
    assert not one.woken.is_set()


def test_who_left_gets_nothing() -> None:
    told = Publisher()
    one, all_of_it = told.listen([1]), told.listen()
    told.unlisten(one)
    told.unlisten(all_of_it)
    told.publish([changed(1)])
    assert not one.pending
    assert not all_of_it.pending


def test_a_listener_that_does_not_keep_up_learns_that_it_missed_something() -> None:
    told = Publisher()
    listener = told.listen()
    told.publish([changed(job) for job in range(publisher.MOST_PENDING + 1)])
    assert list(listener.pending) == [Missed()]


def test_all_listeners_are_woken_at_the_end() -> None:
    async def story() -> None:
        told = Publisher()
        for listener in (told.listen([1]), told.listen()):
            told.wake_all()
            assert await listener.take(20) == []

    asyncio.run(story())


def test_thousands_are_answered_in_turns() -> None:
    async def story() -> None:
        told, answered = Publisher(), 0

        async def answer() -> None:
            nonlocal answered
            async with told.turn():
                answered += 1

        answers = asyncio.gather(*[answer() for _ in range(1000)])
        await asyncio.sleep(0)
        assert answered == publisher.ANSWERED_AT_ONCE
        await answers
        assert answered == 1000

    asyncio.run(story())
