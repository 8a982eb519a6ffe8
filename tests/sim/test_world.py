from tarmac.core.model.rules import PerName, Rules
from tarmac.sim.figures import figures_of
from tarmac.sim.synthetic import made_up
from tarmac.sim.world import simulate
from tests.sim.scene import GIB, WIDE_AND_NARROW, a_row, nodes, outcome_of, waits


def test_backfill_starts_only_what_does_not_delay_the_wide_job():
    scenario = outcome_of(WIDE_AND_NARROW, nodes(1, 2))
    assert waits(scenario) == [0, 100, 0, 130]
    assert scenario.outcome.ends == [100, 150, 60, 210]


def test_without_backfill_no_job_overtakes_the_wide_job():
    assert waits(outcome_of(WIDE_AND_NARROW, nodes(1, 2), is_backfilling=False)) == [0, 100, 140, 130]


def test_balance_gives_the_free_gpu_to_the_owner_with_fewest_gpus():
    trace = [a_row(0, "ann", 1, 100), a_row(0, "ann", 1, 200), a_row(0, "ann", 1, 100), a_row(10, "bob", 1, 100)]
    assert waits(outcome_of(trace, nodes(1, 2), "fifo")) == [0, 0, 100, 190]
    assert waits(outcome_of(trace, nodes(1, 2), "balance")) == [0, 0, 200, 90]


def test_fairshare_counts_past_gpu_hours():
    trace = [a_row(0, "ann", 1, 100), a_row(0, "ann", 1, 100), a_row(10, "bob", 1, 100)]
    assert waits(outcome_of(trace, nodes(1, 1), "balance")) == [0, 100, 190]
    assert waits(outcome_of(trace, nodes(1, 1), "fairshare")) == [0, 200, 90]


def test_a_job_ends_at_its_limit_and_is_counted():
    scenario = outcome_of([a_row(0, "ann", 1, 500, 60), a_row(0, "ann", 1, 60, 60)], nodes(1, 1))
    assert scenario.outcome.ends == [60, 120]
    assert scenario.figures.timeouts == 1


def test_a_preempted_job_stops_after_its_grace_and_starts_over():
    trace = [a_row(0, "ann", 1, 1000, tier="preemptible"), a_row(50, "bob", 1, 100)]
    scenario = outcome_of(trace, nodes(1, 1))
    assert scenario.outcome.ends == [1160, 160]
    assert waits(scenario) == [160, 10]
    assert scenario.figures.preemptions == 1
    assert scenario.figures.utilization == 1


def test_a_preempted_job_may_end_within_its_grace():
    trace = [a_row(0, "ann", 1, 55, tier="preemptible"), a_row(50, "bob", 1, 100)]
    scenario = outcome_of(trace, nodes(1, 1))
    assert scenario.outcome.ends[1] == 155
    assert waits(scenario)[1] == 5


def test_ends_come_before_submits_at_the_same_time():
    assert waits(outcome_of([a_row(0, "ann", 1, 10), a_row(10, "bob", 1, 10)], nodes(1, 1))) == [0, 0]


def test_rows_need_not_be_in_order():
    assert waits(outcome_of([a_row(5, "bob", 1, 10), a_row(0, "ann", 1, 10)], nodes(1, 1))) == [5, 0]


def test_an_impossible_job_is_refused_and_delays_no_other():
    scenario = outcome_of([a_row(0, "ann", 3, 10), a_row(0, "ann", 1, 10)], nodes(2, 2))
    assert waits(scenario) == [None, 0]
    assert (scenario.figures.refused, scenario.figures.unstarted, scenario.figures.waits.jobs) == (1, 0, 1)


def test_accepted_jobs_that_never_start_are_counted():
    rules = Rules(policy="fifo", max_gpus_per_user=PerName(1.0))
    figures = figures_of(simulate([a_row(0, "ann", 2, 10), a_row(0, "bob", 1, 10)], nodes(1, 2), rules))
    assert (figures.refused, figures.unstarted, figures.waits.jobs) == (0, 1, 1)


def test_jobs_that_share_a_gpu_fill_it_together():
    trace = [a_row(0, "ann", 1, 100, gpu_memory_bytes=12 * GIB), a_row(0, "bob", 1, 100, gpu_share=0.5)]
    scenario = outcome_of([*trace, a_row(0, "cleo", 1, 100, gpu_share=0.5)], nodes(1, 1, 24 * GIB))
    assert waits(scenario) == [0, 0, 100]
    assert scenario.figures.utilization == 0.75


def test_cpus_are_counted_if_the_nodes_have_some():
    trace = [a_row(0, "ann", 0, 100, cpus=3), a_row(0, "ann", 0, 100, cpus=2)]
    assert waits(outcome_of(trace, nodes(1, 1))) == [0, 0]
    assert waits(outcome_of(trace, nodes(1, 1, cpus=4))) == [0, 100]


def test_every_job_of_a_long_trace_ends_and_no_gpu_is_used_twice():
    trace = made_up(300, nodes(2, 8), seed=3)
    for policy in ("fifo", "balance", "fairshare"):
        scenario = outcome_of(trace, nodes(2, 8), policy)
        assert scenario.figures.waits.jobs == 300
        assert 0 < scenario.figures.utilization <= 1
        assert max(in_use for _, in_use in scenario.outcome.loads) <= 16
        assert min(wait for wait in waits(scenario) if wait is not None) >= 0
