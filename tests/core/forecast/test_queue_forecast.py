"""The displayed order of the queue and the estimated starts, with computed examples."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core.events import JobsHeld, QueuePaused, ReservationMade
from tarmac.core.forecast import queue_forecast
from tarmac.core.forecast.queue_forecast import Estimate, estimates, line_up, position_of
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import After
from tarmac.core.model.queue import Reservation
from tarmac.core.model.rules import PerName
from tests.core.support.builders import BOX, a_spec
from tests.core.support.scene import Scene


def line(scene: Scene, most: int = 1000) -> list[int]:
    return [int(job) for job in line_up(scene.state, scene.now, most)]


def starts(scene: Scene) -> dict[int, float]:
    """Seconds from now on."""
    return {int(job): one.start_at - scene.now for job, one in estimates(scene.state, scene.now).items()}


def test_the_order_accounts_for_jobs_that_start_earlier() -> None:
    """Under balance, each job in the list counts as running for the next."""
    scene = Scene(gpus=0)
    scene.submit(*[a_spec()] * 3, *[a_spec(owner="bob", gpus=2)] * 2)
    # 0:0 ann → 1:0 bob → 1:2 ann → 2:2 ann (submitted first) → 3:2 bob
    assert line(scene) == [1, 4, 2, 3, 5]


def test_shares_affect_the_order() -> None:
    scene = Scene(gpus=0, shares=PerName(1.0, (("bob", 2.0), ("root", 0.0))))
    scene.submit(*[a_spec()] * 2, *[a_spec(owner="bob")] * 4, a_spec(owner="root"))
    # root; ann 0, bob 0 → ann (first); ann 1, bob 0, .5 → bob, bob; 1:1 → ann; 2:1 → bob, bob
    assert line(scene) == [7, 1, 3, 4, 2, 5, 6]


def test_the_order_follows_fifo_and_tiers() -> None:
    scene = Scene(gpus=0, policy="fifo")
    scene.submit(a_spec(), a_spec(owner="bob", priority=5), a_spec(tier="urgent", priority=50), a_spec(owner="cat"))
    scene.submit(a_spec(tier="preemptible", priority=0))
    assert line(scene) == [3, 2, 1, 4, 5]
    assert line(scene, most=2) == [3, 2]


def test_jobs_start_in_the_forecast_order() -> None:
    scene = Scene(gpus=0)
    specs = [a_spec(owner=owner, gpus=gpus) for owner, gpus in (("ann", 2), ("bob", 1), ("ann", 1), ("bob", 2))]
    scene.submit(*specs)
    told = line(scene)
    scene.see_gpus(6)
    assert [job for job, _ in scene.starts()] == told


def test_places_count_from_one_and_held_jobs_have_none() -> None:
    scene = Scene(gpus=0)
    scene.submit(*[a_spec()] * 3)
    scene.happen(JobsHeld(jobs=(JobId(2),), by="ann"))
    assert [position_of(scene.state, scene.jobs[JobId(job)], scene.now) for job in (1, 3)] == [1, 2]


def test_beyond_the_first_thousand_a_place_is_approximated_by_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(gpus=0)
    scene.submit(*[a_spec()] * 5)
    monkeypatch.setattr(queue_forecast, "MOST_LINED_UP", 2)
    monkeypatch.setattr(queue_forecast.line_up, "__defaults__", (2,))
    assert [position_of(scene.state, scene.jobs[JobId(job)], scene.now) for job in range(1, 6)] == [1, 2, 3, 4, 5]


def a_full_node(*limits: float | None, **rules: Any) -> Scene:
    """One GPU per duration, each taken at 1001; the time is 1001."""
    scene = Scene(gpus=len(limits), **rules)
    scene.submit(*(a_spec(time_limit_s=limit, name=f"run {number}") for number, limit in enumerate(limits)))
    return scene


def test_estimates_follow_from_time_limits() -> None:
    scene = a_full_node(100.0, 300.0)
    scene.submit(a_spec(time_limit_s=50.0), a_spec(time_limit_s=500.0), a_spec(gpus=2, time_limit_s=1.0), a_spec())
    # 3 at 100 (until 150), 4 at 150 (until 650), 5 needs both: at 650; then 6 at 651. It is a second later by now.
    assert starts(scene) == {3: 99.0, 4: 149.0, 5: 649.0, 6: 650.0}
    assert estimates(scene.state, scene.now)[JobId(3)].rests_on == {"limit"}


def test_no_estimate_behind_a_job_of_unknown_length() -> None:
    scene = a_full_node(100.0)
    scene.submit(a_spec(name="new"), a_spec(name="next"))
    assert starts(scene) == {2: 99.0}


def test_no_estimate_when_no_end_is_known() -> None:
    scene = a_full_node(None)
    scene.submit()
    assert starts(scene) == {}


def test_estimates_use_history_and_say_so() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(name="train"))
    scene.now += 59.0
    scene.finish(1)
    scene.submit(a_spec(name="train"))
    scene.submit(a_spec(name="train"))
    (estimate,) = estimates(scene.state, scene.now).values()
    assert estimate == Estimate(start_at=scene.now - 1.0 + 60.0, rests_on=frozenset({"history"}))


def test_a_stopping_job_is_expected_to_end_by_its_grace() -> None:
    scene = a_full_node(None)
    scene.submit()
    scene.stop(1, grace_s=20.0)
    found = estimates(scene.state, scene.now)[JobId(2)]
    assert found == Estimate(start_at=scene.now + 20.0, rests_on=frozenset({"stop"}))


def test_a_paused_queue_has_no_estimates() -> None:
    scene = a_full_node(100.0)
    scene.submit()
    scene.happen(QueuePaused(by="root"))
    assert starts(scene) == {}


def test_a_job_blocked_by_a_limit_has_no_estimate() -> None:
    scene = a_full_node(100.0, 100.0, max_gpus_per_user=PerName(1.0, (("bob", 0.0),)))
    scene.submit(a_spec(gpus=2, owner="bob", time_limit_s=5.0))
    assert 2 not in starts(scene)


def test_a_job_that_can_never_start_has_no_estimate() -> None:
    scene = a_full_node(100.0)
    scene.submit(a_spec(gpus=2))
    assert starts(scene) == {}


def test_estimates_wait_for_reservations_of_others() -> None:
    scene = a_full_node(100.0)
    scene.happen(ReservationMade(reservation=Reservation(
        id=1, owner="bob", node=BOX, gpus=(GpuUuid("box-0"),), begins_at=1150.0, ends_at=2000.0, by="root",
    )))  # fmt: skip
    scene.submit(a_spec(time_limit_s=49.0), a_spec(time_limit_s=51.0))
    assert starts(scene) == {2: 1101.0 - scene.now, 3: 2000.0 - scene.now}


@pytest.mark.parametrize("gpus", [0, 1])
def test_a_delayed_job_with_free_gpus_starts_at_its_begin_time(gpus: int) -> None:
    scene = Scene(gpus=2)
    begin = scene.now + 500.0
    (job,) = scene.submit(a_spec(gpus=gpus, begin_at=begin))
    assert estimates(scene.state, scene.now) == {job: Estimate(start_at=begin, rests_on=frozenset({"begin"}))}


def test_a_delayed_job_waits_for_gpus_that_are_taken_for_longer() -> None:
    scene = a_full_node(3600.0)
    (job,) = scene.submit(a_spec(begin_at=scene.now + 60.0))
    estimate = estimates(scene.state, scene.now)[job]
    assert estimate.start_at > scene.now + 3500
    assert estimate.rests_on == {"limit"}


def test_a_delayed_job_that_also_waits_for_another_job_has_no_estimate() -> None:
    scene = Scene(gpus=2)
    (first,) = scene.run()
    (job,) = scene.submit(a_spec(begin_at=scene.now + 60.0, after=(After(job=first, on="ok"),)))
    assert job not in estimates(scene.state, scene.now)


def test_estimates_rest_on_the_progress_of_running_jobs() -> None:
    scene = a_full_node(None)
    scene.begin()
    (job,) = scene.submit(a_spec())
    assert job not in estimates(scene.state, scene.now)
    found = estimates(scene.state, scene.now, {JobId(1): scene.now + 90.0})
    assert found[job] == Estimate(start_at=scene.now + 90.0, rests_on=frozenset({"progress"}))


def test_a_time_limit_holds_whatever_the_progress_says() -> None:
    scene = a_full_node(60.0)
    scene.begin()
    (job,) = scene.submit(a_spec())
    limited = estimates(scene.state, scene.now)[job]
    assert estimates(scene.state, scene.now, {JobId(1): scene.now + 9000.0})[job] == limited
    sooner = estimates(scene.state, scene.now, {JobId(1): scene.now + 5.0})[job]
    assert sooner.rests_on == {"progress"}


def test_without_backfill_an_estimate_rests_on_the_job_that_goes_first() -> None:
    scene = Scene(gpus=3, is_backfilling=False)
    scene.submit(a_spec(gpus=2, time_limit_s=100.0))
    first, next_one = scene.submit(a_spec(gpus=2, time_limit_s=50.0), a_spec(time_limit_s=10.0))
    found = estimates(scene.state, scene.now)
    assert found[next_one].start_at == found[first].start_at
    assert found[next_one].rests_on == {"limit"}


def held_back_by_expectation() -> tuple[Scene, JobId]:
    """One of two GPUs is free and held back: by what its owner ran before, the running job is expected to end."""
    scene = Scene(gpus=2)
    for _ in range(6):
        (earlier,) = scene.run(a_spec(name=f"run {scene.now}"))
        scene.pass_s(600.0)
        scene.finish(earlier)
    scene.run(a_spec(name="new"))
    (wide,) = scene.submit(a_spec(gpus=2, name="wide"))
    return scene, wide


def test_no_estimate_on_a_gpu_that_is_held_back_for_a_start_at_an_unknown_time() -> None:
    scene, wide = held_back_by_expectation()
    (long,) = scene.submit(a_spec(name="long", time_limit_s=9000.0))
    assert scene.state_of(long) == scene.state_of(wide) == "queued"
    assert starts(scene) == {}


def test_no_estimate_in_the_gap_before_a_start_at_a_vague_time() -> None:
    """The second job will start as soon as the first ends, if the plan is still that late. That is a guess."""
    scene, wide = held_back_by_expectation()
    passing, short = scene.submit(a_spec(name="a", time_limit_s=300.0), a_spec(name="b", time_limit_s=60.0))
    assert [scene.state_of(job) for job in (wide, passing, short)] == ["queued", "starting", "queued"]
    assert starts(scene) == {}


def before_a_known_start(**short: Any) -> tuple[Scene, JobId, JobId]:
    """All three GPUs are taken: two for 100 s by a limit, one for 600 s by its history. Then a job gets all three."""
    scene = Scene(gpus=3)
    for name, gpus, seconds in (("base", 1, 600.0), ("eval", 2, 200.0), ("x", 2, 20.0), ("y", 2, 20.0)):
        (earlier,) = scene.run(a_spec(name=name, gpus=gpus))
        scene.pass_s(seconds - 1)
        scene.finish(earlier)
    scene.submit(a_spec(gpus=2, name="base2", time_limit_s=100.0), a_spec(name="base"))
    wide, waiting = scene.submit(a_spec(gpus=3, name="wide"), a_spec(gpus=2, **short))
    return scene, wide, waiting


@pytest.mark.parametrize("short", [{"name": "eval"}, {"name": "new", "time_limit_s": 200.0}], ids=["history", "limit"])
def test_a_job_known_to_end_before_a_known_start_is_estimated_in_the_gap(short: dict[str, Any]) -> None:
    scene, wide, waiting = before_a_known_start(**short)
    assert starts(scene) == {wide: 599.0, waiting: 99.0}


def test_no_estimate_in_a_gap_for_a_job_that_is_guessed_to_be_short() -> None:
    scene, wide, waiting = before_a_known_start(name="new")
    assert starts(scene) == {wide: 599.0}
    scene.begin()
    scene.pass_s(100.0)
    scene.finish(5)
    assert scene.state_of(waiting) == "starting"


def test_jobs_with_a_planned_start_are_estimated_before_the_order() -> None:
    """An overdue job goes first: its GPUs are taken before others get theirs."""
    scene = Scene(gpus=2, starvation_s=10.0)
    scene.submit(a_spec(time_limit_s=100.0, name="a"), a_spec(time_limit_s=200.0, name="b"))
    (wide,) = scene.submit(a_spec(gpus=2, time_limit_s=50.0))
    scene.pass_s(20.0)
    (narrow,) = scene.submit(a_spec(owner="bob", time_limit_s=150.0))
    scene.now -= 20.0
    assert line(scene) == [narrow, wide]
    scene.now += 20.0
    assert line(scene) == [wide, narrow]
    assert position_of(scene.state, scene.jobs[wide], scene.now) == 1
    found = estimates(scene.state, scene.now)
    assert found[narrow].start_at == found[wide].start_at + 50.0


def test_a_job_that_ends_before_a_planned_start_is_estimated_in_the_gap() -> None:
    scene = a_full_node(100.0, 300.0)
    wide, short, long = scene.submit(
        a_spec(gpus=2, time_limit_s=60.0), a_spec(time_limit_s=150.0), a_spec(time_limit_s=250.0)
    )
    found = starts(scene)
    assert found == {wide: 299.0, short: 99.0, long: 359.0}
    scene.begin()
    scene.pass_s(found[short] - 1)
    scene.finish(1)
    assert scene.state_of(short) == "starting"
    assert scene.state_of(long) == "queued"
