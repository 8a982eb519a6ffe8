"""What the scheduler remembers of runs that are not simulated. Backfill shows whether it expects a job to be short."""

from typing import Any

import pytest

from tarmac.core.model.rules import Rules
from tarmac.sim.past import PastRun
from tarmac.sim.trace import TraceJob
from tarmac.sim.world import simulate
from tests.sim.scene import a_row, nodes

LONG_S = 100_000


def ran(job: TraceJob, starts_at: float) -> PastRun:
    return PastRun(job=job, starts_at=starts_at, ends_at=starts_at + job.run_s)


def starts(trace: list[TraceJob], *past: PastRun, gpus: int = 2, **rules: Any) -> list[float | None]:
    return simulate(trace, nodes(1, gpus), Rules(pause_after_failures=0, **rules), past).starts


def scene(**more: Any) -> list[TraceJob]:
    """The last job may pass the second, which waits until 2000, if it is known to take 10 s."""
    return [
        a_row(1000, "ann", 1, 1000, 1000),
        a_row(1000, "ann", 2, 1000, 1000),
        a_row(1010, "bob", 1, 10, **more),
    ]


@pytest.mark.parametrize("kind", [{"name": "eval"}, {"command": ("python", "eval.py")}], ids=["name", "command"])
def test_namesakes_of_the_past_say_how_long_a_job_takes(kind: dict[str, Any]):
    past = ran(a_row(0, "bob", 1, 10, **kind), 0)
    assert starts(scene(**kind), past, policy="fifo")[2] == 1010


@pytest.mark.parametrize("kind", [{"name": "eval"}, {"command": ("python", "eval.py")}], ids=["name", "command"])
def test_failures_teach_nothing(kind: dict[str, Any]):
    """It succeeded in a long time and failed in a short one, so it is not expected to be short."""
    long, short = a_row(0, "bob", 1, LONG_S, **kind), a_row(0, "bob", 1, 10, **kind, is_failed=True)
    trace = [a_row(job.submit_s + LONG_S, job.owner, job.request.gpus, job.duration_s, job.limit_s, name=job.name,
                   command=job.command) for job in scene(**kind)]  # fmt: skip
    past = [ran(long, 0), *[ran(short, LONG_S + 10 * number) for number in range(9)]]
    assert starts(trace, *past, policy="fifo")[2] == LONG_S + 3000
    assert starts(trace, *[ran(a_row(0, "bob", 1, 10, **kind), 0)], policy="fifo")[2] == LONG_S + 1010


def test_a_simulated_job_that_fails_teaches_nothing():
    first = [a_row(0, "bob", 1, 10, name="eval", is_failed=is_failed) for is_failed in (False, True)]
    long = a_row(0, "bob", 1, 900, name="eval")
    assert starts([first[0], *scene(name="eval")], policy="fifo")[3] == 1010
    assert (
        starts([long, first[1], *scene(name="eval")], policy="fifo")[4]
        == starts([long, a_row(0, "bob", 1, 10), *scene(name="eval")], policy="fifo")[4]
    )


def test_a_run_is_known_only_once_it_has_ended():
    """It ends at 1500, and from then on the third job may pass the second."""
    kind = {"name": "eval"}
    trace = [*scene(**kind), a_row(1600, "cleo", 0, 1)]
    assert starts(trace, ran(a_row(0, "bob", 1, 10, **kind), 1490), policy="fifo")[2] == 1600


def test_past_gpu_hours_count_for_fairshare():
    trace = [a_row(5000, "ann", 1, 100), a_row(5000, "ann", 1, 100), a_row(5000, "bob", 1, 100)]
    assert starts(trace, gpus=1, policy="fairshare") == [5000, 5200, 5100]
    bobs = ran(a_row(0, "bob", 1, 4000), 0)
    assert starts(trace, bobs, gpus=1, policy="fairshare") == [5000, 5100, 5200]
    not_yet = ran(a_row(0, "bob", 1, 4000), 5001)
    assert starts(trace, not_yet, gpus=1, policy="fairshare") == [5000, 5200, 5100]
