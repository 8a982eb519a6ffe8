"""The timer on the wall clock, and the steps of the clock."""

import asyncio
from pathlib import Path
from time import monotonic

import pytest

from tarmac.controller.engine.wall_clock import ClockSteps, WallTimer


def test_it_fires_at_its_moment_and_can_be_set_again() -> None:
    async def story() -> None:
        fired = asyncio.Event()
        timer = WallTimer(fired.set)
        timer.set(3600)
        timer.set(0.01)
        assert await asyncio.wait_for(fired.wait(), 20)
        fired.clear()
        timer.set(-5)
        assert await asyncio.wait_for(fired.wait(), 20)

    asyncio.run(story())


@pytest.mark.parametrize("seconds", [60.0, 1e9, 1e12])
def test_the_kernel_cancels_it_when_the_clock_is_set(seconds: float) -> None:
    """Also if its moment is centuries ahead."""

    async def story() -> int:
        timer = WallTimer(lambda: None)
        timer.set(seconds)
        return timer._descriptor

    async def told() -> str:
        path = Path(f"/proc/self/fdinfo/{await story()}")
        return await asyncio.to_thread(path.read_text)

    text = asyncio.run(told())
    assert "clockid: 0" in text
    assert "settime flags: 03" in text
    assert "it_value: (0, 0)" not in text


def test_steps_are_what_the_clock_gained() -> None:
    ahead_s = 0.0
    steps = ClockSteps(lambda: monotonic() + ahead_s)
    assert steps.take() == 0.0
    for step_s in (7200.0, -86400.0):
        ahead_s += step_s
        assert steps.take() == pytest.approx(step_s, abs=0.5)
        assert steps.take() == 0.0


def test_small_differences_add_up_to_a_step() -> None:
    ahead_s = 0.0
    steps = ClockSteps(lambda: monotonic() + ahead_s)
    taken = 0.0
    for _ in range(20):
        ahead_s += 0.2
        taken += steps.take()
    assert taken == pytest.approx(4.0, abs=0.6)
