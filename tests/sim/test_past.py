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
    return simulate(trace, nodes(1, gpus), Rules(suspend_after_failures=0, **rules), past).starts


def scene(at: float = 1000, **more: Any) -> list[TraceJob]:
    """The last job may pass the second, which is expected to wait for 1000 s, if it is known to take 10 s."""
    return [
        a_row(at, "ann", 1, 1000, name="base"),
        a_row(at, "ann", 2, 1000, 1000),
        a_row(at + 10, "bob", 1, 10, **more),
    ]


BASE = ran(a_row(0, "ann", 1, 1000, name="base"), 0)  # no promise rests on it, so jobs without a limit may pass
PASSED, WAITED = 10, 2000  # when the last job starts, counted from the begin of the scene
KINDS = pytest.mark.parametrize("kind", [{"name": "eval"}, {"command": ("python", "eval.py")}], ids=["name", "command"])
ENDINGS = pytest.mark.parametrize(
    ("ending", "started"), [("succeeded", PASSED), ("failed", WAITED), ("cancelled", WAITED)]
)


@KINDS
def test_namesakes_of_the_past_say_how_long_a_job_takes(kind: dict[str, Any]):
    past = ran(a_row(0, "bob", 1, 10, **kind), 0)
    assert starts(scene(**kind), BASE, past, policy="fifo")[2] == 1000 + PASSED


@KINDS
@ENDINGS
def test_only_runs_that_succeeded_say_how_long_their_namesakes_take(kind: dict[str, Any], ending: Any, started: float):
    """The last five count, so the first one is forgotten only if the others succeeded."""
    begin = 2 * LONG_S
    long, short = a_row(0, "bob", 1, LONG_S, **kind), a_row(0, "bob", 1, 10, **kind, ending=ending)
    past = [ran(long, 0), *[ran(short, LONG_S + 10 * number) for number in range(5)]]
    assert starts(scene(begin, **kind), BASE, *past, policy="fifo")[2] == begin + started


@ENDINGS
def test_simulated_runs_end_as_they_did(ending: Any, started: float):
    begin = 2 * LONG_S
    long, short = (a_row(0, "bob", 1, LONG_S, name="eval"), a_row(LONG_S + 1, "bob", 1, 10, name="eval", ending=ending))
    assert starts([long, *[short] * 5, *scene(begin, name="eval")], BASE, policy="fifo")[8] == begin + started


def test_a_run_that_was_stopped_at_its_limit_does_not_say_how_long_its_namesakes_take():
    begin = 2 * LONG_S
    long, stopped = a_row(0, "bob", 1, LONG_S, name="eval"), a_row(0, "bob", 1, 900, 10, name="eval")
    past = [ran(long, 0), *[ran(stopped, LONG_S + 10 * number) for number in range(5)]]
    assert starts(scene(begin, name="eval"), BASE, *past, policy="fifo")[2] == begin + WAITED


def test_a_run_is_known_only_once_it_has_ended():
    """It ends at 1500, and from then on the third job may pass the second."""
    kind = {"name": "eval"}
    trace = [*scene(**kind), a_row(1600, "cleo", 0, 1)]
    assert starts(trace, BASE, ran(a_row(0, "bob", 1, 10, **kind), 1490), policy="fifo")[2] == 1600


def test_what_is_expected_of_running_jobs_stays_as_it_was_when_they_got_their_gpus():
    """When the first job starts, its namesake took 1000 s. Another one that took longer ends only later."""
    trace = [*scene(), a_row(1600, "cleo", 1, 450, 450), a_row(1600, "cleo", 1, 350, 350)]
    longer = ran(a_row(0, "ann", 1, 1500, name="base"), 0)
    assert starts(trace, BASE, longer, policy="fifo")[3:] == [3000, 1600]


def test_the_order_by_expected_length_profits_from_what_ends_meanwhile():
    """At 8100 it is known that the second job takes long. The third then goes first, though it was submitted later."""
    trace = [a_row(8000, "ann", 1, 500, 500), *[a_row(8000, "ann", 1, 300, name=name) for name in ("long", "other")]]
    past = [
        ran(a_row(0, "ann", 1, seconds, name=name), 8100 - seconds) for name, seconds in (("long", 5000), ("x", 10))
    ]
    assert starts(trace, gpus=1, policy="fifo", order="expected") == [8000, 8500, 8800]
    assert starts(trace, *past, gpus=1, policy="fifo", order="expected") == [8000, 8800, 8500]


def test_past_gpu_hours_count_for_fairshare():
    trace = [a_row(5000, "ann", 1, 100), a_row(5000, "ann", 1, 100), a_row(5000, "bob", 1, 100)]
    assert starts(trace, gpus=1, policy="fairshare") == [5000, 5200, 5100]
    bobs = ran(a_row(0, "bob", 1, 4000), 0)
    assert starts(trace, bobs, gpus=1, policy="fairshare") == [5000, 5100, 5200]
    not_yet = ran(a_row(0, "bob", 1, 4000), 5001)
    assert starts(trace, not_yet, gpus=1, policy="fairshare") == [5000, 5200, 5100]
