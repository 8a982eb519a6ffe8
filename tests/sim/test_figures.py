from typing import Any

import pytest

from tarmac.sim.comparison import Variant, as_data, compare
from tarmac.sim.fairness import jain
from tarmac.sim.figures import Waits, bounded_slowdown, of_all, percentile
from tests.sim.scene import GIB, WIDE_AND_NARROW, a_row, nodes, outcome_of


def test_the_figures_of_a_small_trace():
    trace, machines = WIDE_AND_NARROW, nodes(1, 2)
    data = as_data(compare(trace, machines, [Variant(policy="fifo")])[0])  # waits of 0, 100, 0 and 130
    ann_due, bob_due = 2 * 10 + 90 + 50, 200  # alone until 10, then half; one GPU was his from 10 to 210
    ann, bob = (100 + 50) / ann_due, (50 + 60) / bob_due
    plain_waits = (0, 100, 140, 130)
    assert data == {
        "policy": "fifo",
        "backfill": True,
        "order": "submitted",
        "limits": "as-given",
        "utilization": pytest.approx((100 + 2 * 50 + 50 + 60) / (2 * 210), abs=1e-6),
        "idle_while_waiting": pytest.approx((10 + 40) / (2 * 210), abs=1e-6),  # until 10, and from 60 to 100
        "idle_while_waiting_gpu_hours": pytest.approx(50 / 3600, abs=1e-6),
        "shortfall": pytest.approx((10 + 90) / (ann_due + bob_due), abs=1e-6),
        "shortfall_gpu_hours": pytest.approx((10 + 90) / 3600, abs=1e-6),
        "fairness": pytest.approx((ann + bob) ** 2 / (2 * (ann**2 + bob**2)), abs=1e-6),
        "makespan_s": 210,
        "preemptions": 0,
        "timeouts": 1,
        "refused": 0,
        "unstarted": 0,
        "wait": {
            **waits(4, 57.5, 50, 130, 130),
            **slowdowns((1 + 3 + 1 + 190 / 60) / 4, 190 / 60, 57.5 / (sum(plain_waits) / 4)),
        },
        "wait_by_gpus": [
            {"gpus": 1, **waits(3, 130 / 3, 0, 130, 130), **slowdowns((1 + 1 + 190 / 60) / 3, 190 / 60, 130 / 270)},
            {"gpus": 2, **waits(1, 100, 100, 100, 100), **slowdowns(3, 3, 1)},
        ],
        "wait_by_owner": [
            {
                "owner": "ann", **waits(2, 50, 50, 100, 100), **slowdowns(2, 3, 1),
                "part_of_share": pytest.approx(ann), "shortfall_gpu_hours": pytest.approx(10 / 3600, abs=1e-6),
            },
            {
                "owner": "bob", **waits(2, 65, 65, 130, 130), **slowdowns((1 + 190 / 60) / 2, 190 / 60, 130 / 270),
                "part_of_share": pytest.approx(bob), "shortfall_gpu_hours": pytest.approx(90 / 3600, abs=1e-6),
            },
        ],
    }  # fmt: skip


def waits(jobs: int, mean: float, median: float, p95: float, p99: float) -> dict[str, Any]:
    return {
        "jobs": jobs,
        "mean_s": pytest.approx(mean, abs=1e-6),
        "median_s": median,
        "p95_s": p95,
        "p99_s": p99,
    }


def slowdowns(mean: float, p95: float, vs_plain_fifo: float) -> dict[str, Any]:
    return {
        "mean_slowdown": pytest.approx(mean, abs=1e-6),
        "p95_slowdown": pytest.approx(p95, abs=1e-6),
        "vs_plain_fifo": pytest.approx(vs_plain_fifo, abs=1e-6),
    }


def test_a_slowdown_is_bounded_for_short_runs_and_never_below_1():
    assert bounded_slowdown(0, 0.1) == 1
    assert bounded_slowdown(5, 1) == 1
    assert bounded_slowdown(99, 1) == 10
    assert bounded_slowdown(100, 100) == 2


def test_gpus_count_as_idle_only_while_a_job_waits_for_gpus():
    machines = nodes(1, 2)
    assert outcome_of([a_row(0, "ann", 1, 100)], machines).figures.sharing.idle == 0
    without_gpus = [a_row(0, "ann", 1, 100), a_row(0, "ann", 0, 100, cpus=4), a_row(0, "ann", 0, 100, cpus=4)]
    assert outcome_of(without_gpus, nodes(1, 2, cpus=4)).figures.sharing.idle == 0
    wide = outcome_of([a_row(0, "ann", 1, 100), a_row(10, "ann", 2, 100)], machines).figures
    assert (wide.sharing.idle, wide.idle_part) == (90, 90 / 400)


def test_a_preempted_job_waits_again_but_has_had_its_gpus():
    trace = [a_row(0, "ann", 1, 1000, tier="preemptible"), a_row(50, "bob", 1, 100)]
    sharing = outcome_of(trace, nodes(1, 2)).figures.sharing
    assert (sharing.idle, sharing.short) == (0, 0)
    sharing = outcome_of(trace, nodes(1, 1)).figures.sharing  # ann until 60, bob until 160, ann until 1160
    assert sharing.idle == 0
    assert {owner: share.short for owner, share in sharing.by_owner.items()} == {"ann": 50, "bob": 5}


def test_jobs_that_share_a_gpu_by_memory_count_with_what_they_book():
    trace = [a_row(0, owner, 1, 100, gpu_memory_bytes=6 * GIB) for owner in ("ann", "bob", "cleo")]
    sharing = outcome_of(trace, nodes(1, 1, 24 * GIB)).figures.sharing
    assert {owner: share.due for owner, share in sharing.by_owner.items()} == {"ann": 25, "bob": 25, "cleo": 25}
    assert sharing.short == 0


def test_waits_are_relative_to_fifo_without_backfill_on_the_same_trace():
    machines = nodes(1, 2)
    ran: list[str] = []
    variants = [Variant(policy="fifo"), Variant(policy="fifo", is_backfilling=False)]
    scenarios = compare(WIDE_AND_NARROW, machines, variants, ran.append)
    assert [one.relative_wait(of_all) for one in scenarios] == [57.5 / 92.5, 1]
    assert len(ran) == 2, "plain FIFO is simulated once, even if it is also asked for"


def test_a_wait_relative_to_none_is_unknown_unless_there_is_none_either():
    assert Waits(jobs=1, mean_s=5.0).relative_to(Waits(jobs=1, mean_s=0.0)) is None
    assert Waits(jobs=1, mean_s=0.0).relative_to(Waits(jobs=1, mean_s=0.0)) == 1
    assert Waits().relative_to(Waits(jobs=1, mean_s=1.0)) is None


def test_fairness_is_1_if_all_are_equal_and_1_over_n_if_one_has_everything():
    assert jain([0.3, 0.3, 0.3]) == pytest.approx(1)
    assert jain([1, 0, 0, 0]) == pytest.approx(0.25)


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
