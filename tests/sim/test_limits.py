from tarmac.sim.comparison import Variant, compare
from tarmac.sim.limits import ALL_LIMITS, with_limits
from tests.sim.scene import WIDE_AND_NARROW, a_row, nodes, waits


def test_limits_are_dropped_kept_or_twice_the_duration():
    trace = [a_row(0, "ann", 1, 100, 130), a_row(0, "ann", 1, 100), a_row(0, "ann", 1, 100, 60)]
    assert [job.limit_s for job in with_limits(trace, "none")] == [None, None, None]
    assert with_limits(trace, "as-given") == trace
    assert [job.limit_s for job in with_limits(trace, "x2")] == [200, 200, 200]


def test_a_job_that_takes_no_time_still_has_a_limit():
    assert [job.limit_s for job in with_limits([a_row(0, "ann", 1, 0)], "x2")] == [1]


def test_jobs_that_their_limit_would_stop_run_to_their_end_with_other_limits():
    variants = [Variant(policy="fifo", limits=limits) for limits in ALL_LIMITS]
    scenarios = {one.variant.limits: one for one in compare(WIDE_AND_NARROW, nodes(1, 2), variants)}
    assert {limits: one.figures.timeouts for limits, one in scenarios.items()} == {"as-given": 1, "none": 0, "x2": 0}
    assert scenarios["as-given"].outcome.run_s(3) == 60
    assert scenarios["none"].outcome.run_s(3) == scenarios["x2"].outcome.run_s(3) == 500


def test_the_scheduler_knows_the_limits_that_were_chosen():
    """Twice its duration is too long for the third job to pass the second."""
    trace = [a_row(0, "ann", 1, 100, 200), a_row(0, "ann", 2, 50, 60), a_row(10, "bob", 1, 90, 100)]
    variants = [Variant(policy="fifo", limits=limits) for limits in ("as-given", "x2")]
    as_given, twice = compare(trace, nodes(1, 2), variants)
    assert waits(as_given) == [0, 100, 0]
    assert waits(twice) == [0, 100, 0]
    long = [*trace[:2], a_row(10, "bob", 1, 96, 100)]
    as_given, twice = compare(long, nodes(1, 2), variants)
    assert waits(as_given) == [0, 106, 0]
    assert waits(twice) == [0, 100, 140]


def test_waits_are_relative_to_plain_fifo_with_the_same_limits():
    variants = [Variant(policy="fifo", is_backfilling=False, limits=limits) for limits in ALL_LIMITS]
    scenarios = compare(WIDE_AND_NARROW, nodes(1, 2), variants)
    assert [one.plain is not None and one.plain.timeouts for one in scenarios] == [1, 0, 0]
