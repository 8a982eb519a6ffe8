"""The controller is killed at any moment while jobs end: each is counted once, with what it held."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.home import Home, until

POINTS = ("controller:before-commit", "controller:in-commit", "controller:after-commit", "controller:before-answer")


def total(home: Home) -> Any:
    done = home.tarmac("report", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["total"]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("nth", [3, 5, 7])
def test_a_job_that_ends_as_the_controller_dies_is_counted_once(home: Home, point: str, nth: int) -> None:
    home.environment["TARMAC_CRASH_AT"] = f"{point}@{nth}"
    assert home.tarmac("status").returncode == 0
    del home.environment["TARMAC_CRASH_AT"]  # once it has died, the next command starts another one
    jobs = [home.add("--", "sleep", "0.3") for _ in range(3)]
    assert until(lambda: home.tarmac("wait", *map(str, jobs)).returncode == 0)
    held = [home.client().job(job).held_gpu_s for job in jobs]
    assert (total(home)["jobs"], min(held) >= 0.3) == (3, True)
    assert total(home)["held_s"] == pytest.approx(sum(held), abs=0.01)
