import pytest

from tarmac.sim.comparison import as_data
from tarmac.sim.fairness import jain, shares
from tarmac.sim.figures import percentile
from tests.sim.scene import WIDE_AND_NARROW, a_row, nodes, outcome_of


def test_the_figures_of_a_small_trace():
    data = as_data(outcome_of(WIDE_AND_NARROW, nodes(1, 2)))  # waits of 0, 100, 0 and 130
    ann = (100 + 50) / (2 * 10 + 90 + 50)  # alone until 10, then half; both GPUs were due, one was hers
    bob = (50 + 60) / 200  # one GPU was due from 10 to 210; he had none from 60 to 150
    assert data == {
        "policy": "fifo",
        "backfill": True,
        "utilization": pytest.approx((100 + 2 * 50 + 50 + 60) / (2 * 210), abs=1e-6),
        "fairness": pytest.approx((ann + bob) ** 2 / (2 * (ann**2 + bob**2)), abs=1e-3),
        "makespan_s": 210,
        "preemptions": 0,
        "timeouts": 1,
        "refused": 0,
        "unstarted": 0,
        "wait": {"jobs": 4, "mean_s": 57.5, "median_s": 50, "p95_s": 130, "p99_s": 130},
        "wait_by_gpus": [
            {"gpus": 1, "jobs": 3, "mean_s": 43.333333, "median_s": 0, "p95_s": 130, "p99_s": 130},
            {"gpus": 2, "jobs": 1, "mean_s": 100, "median_s": 100, "p95_s": 100, "p99_s": 100},
        ],
        "wait_by_owner": [
            {"owner": "ann", "jobs": 2, "mean_s": 50, "median_s": 50, "p95_s": 100, "p99_s": 100,
             "part_of_share": pytest.approx(ann, abs=1e-3)},
            {"owner": "bob", "jobs": 2, "mean_s": 65, "median_s": 65, "p95_s": 130, "p99_s": 130,
             "part_of_share": pytest.approx(bob, abs=1e-3)},
        ],
    }  # fmt: skip


def test_fairness_is_1_if_all_are_equal_and_1_over_n_if_one_has_everything():
    assert jain([0.3, 0.3, 0.3]) == pytest.approx(1)
    assert jain([1, 0, 0, 0]) == pytest.approx(0.25)


def test_shares_are_equal_and_unneeded_parts_go_to_others():
    assert shares({"ann": 8, "bob": 8}, 4) == {"ann": 2, "bob": 2}
    assert shares({"ann": 9, "bob": 1, "cleo": 4}, 8) == {"bob": 1, "cleo": 3.5, "ann": 3.5}
    assert shares({"ann": 2, "bob": 1}, 8) == {"ann": 2, "bob": 1}


def test_balance_is_fairer_than_fifo_to_an_owner_behind_many_jobs():
    trace = [*[a_row(0, "ann", 1, 100) for _ in range(20)], *[a_row(1, "bob", 1, 100) for _ in range(5)]]
    fifo, balance = (outcome_of(trace, nodes(1, 2), policy).figures.fairness for policy in ("fifo", "balance"))
    assert fifo < 0.9
    assert balance > 0.97


def test_a_percentile_is_the_smallest_value_that_the_fraction_does_not_exceed():
    values = [float(number) for number in range(1, 201)]
    assert (percentile(values, 95), percentile(values, 99), percentile([7.0], 99)) == (190, 198, 7)


def test_time_before_the_first_submit_does_not_count():
    figures = outcome_of([a_row(1000, "ann", 1, 100)], nodes(1, 2)).figures
    assert (figures.makespan_s, figures.utilization) == (100, 0.5)


def test_figures_are_empty_if_nothing_could_run():
    figures = outcome_of([a_row(0, "ann", 4, 100)], nodes(1, 2)).figures
    assert (figures.waits.jobs, figures.waits.mean_s, figures.utilization) == (0, None, 0)


def test_the_load_of_an_interval_is_its_mean():
    outcome = outcome_of([a_row(0, "ann", 1, 30), a_row(20, "bob", 1, 20)], nodes(1, 2)).outcome
    assert outcome.loads == [(0, 1), (20, 2), (30, 1), (40, 0)]
    assert outcome.mean_loads(0, 40, 2) == [1, 1.5]
    assert outcome.mean_loads(0, 80, 2) == [1.25, 0]
