"""Random kill -9 under load: a short version of `make torture`."""

import random

import pytest

from tests.faults.judge import expect_all_well
from tests.faults.torture import Torture, summary
from tests.faults.world import World

KILLS = 25
JOBS = 150


@pytest.mark.torture
def test_promises_hold_under_random_kills(world: World) -> None:
    seed = random.SystemRandom().randrange(1 << 31)
    print(f"seed {seed}")  # shown on failure; repeat with `make torture ARGS='--seed N'`
    torture = Torture(world=world, kills=KILLS, jobs=JOBS, seed=seed, pause_s=0.3)
    torture.run(within_s=90)
    verdict = expect_all_well(world)
    print(summary(torture, verdict))
    assert sum(torture.done.values()) == KILLS
    assert verdict.jobs == JOBS
