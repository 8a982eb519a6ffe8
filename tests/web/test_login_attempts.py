"""Wrong log-ins are answered later and later; right ones at once."""

import asyncio

import pytest

from tarmac.refusal import Refused
from tarmac.web import login_attempts
from tarmac.web.login_attempts import LoginAttempts
from tests.api.served import Served
from tests.web.browser import linked


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []

    async def sleep(delay_s: float) -> None:
        found.append(delay_s)

    monkeypatch.setattr(login_attempts.asyncio, "sleep", sleep)
    return found


def fail(attempts: LoginAttempts, *addresses: str) -> None:
    async def all_of_them() -> None:
        for address in addresses:
            await attempts.failed(address)

    asyncio.run(all_of_them())


def test_the_delay_doubles_up_to_a_limit_for_each_address_apart(delays: list[float]) -> None:
    attempts = LoginAttempts()
    fail(attempts, *["10.0.0.1"] * 10, "10.0.0.2")
    assert delays == [0, 0, 0, 0.25, 0.5, 1, 2, 4, 8, 8, 0]


def test_failures_are_forgotten_after_a_while(delays: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    attempts, clock = LoginAttempts(), [0.0]
    monkeypatch.setattr(login_attempts, "monotonic", lambda: clock[0])
    fail(attempts, *["10.0.0.1"] * 5)
    clock[0] += login_attempts.FORGET_AFTER_S + 1
    fail(attempts, "10.0.0.1")
    assert delays[-2:] == [0.5, 0]


def test_few_answers_of_one_address_wait_at_a_time() -> None:
    async def story() -> None:
        attempts = LoginAttempts()
        waiting = [asyncio.create_task(attempts.failed("10.0.0.1")) for _ in range(30)]
        refused = [task for task in waiting if isinstance(await outcome(task), Refused)]
        assert len(refused) == 30 - login_attempts.MOST_WAITING

    async def outcome(task: asyncio.Task[None]) -> BaseException | None:
        done, _ = await asyncio.wait([task], timeout=0.01)
        if not done:
            task.cancel()
        return task.exception() if done else None

    asyncio.run(story())


def test_many_addresses_take_little_memory(delays: list[float]) -> None:
    attempts = LoginAttempts()
    fail(attempts, *[f"10.0.{number // 256}.{number % 256}" for number in range(2000)])
    assert len(attempts._failures) == login_attempts.MOST_ADDRESSES
    assert set(delays) == {0}


def test_a_right_link_logs_in_while_wrong_ones_are_delayed(served_home: Served) -> None:
    browser, word = linked(served_home.client)
    for _ in range(login_attempts.FREE_ATTEMPTS + 1):
        assert browser.log_in("wrong").status == 403
    assert browser.log_in(word).status == 204
