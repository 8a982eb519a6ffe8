"""Reservations: other owners stay off, the owner's jobs prefer them, and when they end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tarmac.core.events import GpusDrained, ReservationEnded, ReservationMade
from tarmac.core.explain.reasons import ReservedFor
from tarmac.core.handlers.queue.reservations import chosen_gpus
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.queue import Reservation
from tests.core.support.builders import BOX, a_spec
from tests.core.support.explaining import explain
from tests.core.support.scene import Scene

FROM, UNTIL = 2000.0, 3000.0


def reserved(*indices: int, owner: str = "ann", begins_at: float = FROM, ends_at: float = UNTIL) -> Reservation:
    gpus = tuple(GpuUuid(f"box-{index}") for index in indices)
    return Reservation(id=1, owner=owner, node=BOX, gpus=gpus, begins_at=begins_at, ends_at=ends_at, by="root")


def with_reservation(reservation: Reservation, *, gpus: int = 2, now: float = 1000.0, **rules: float) -> Scene:
    scene = Scene(gpus=gpus, **rules)
    scene.now = now
    scene.happen(ReservationMade(reservation=reservation))
    return scene


@pytest.mark.parametrize(
    ("limit_s", "starts"),
    [(998.0, True), (999.0, False)],  # submitted at 1002; it begins at 2000
)
def test_other_owners_start_only_jobs_that_end_before_the_reservation(limit_s: float, starts: bool) -> None:
    scene = with_reservation(reserved(0, 1))
    scene.submit(a_spec(owner="bob", time_limit_s=limit_s))
    assert scene.at_work() == ([1] if starts else [])
    if not starts:
        why = ReservedFor(reservation=1, owner="ann", node=BOX, begins_at=FROM, ends_at=UNTIL)
        assert why in explain(scene.state, scene.jobs[JobId(1)], scene.now)


@pytest.mark.parametrize(("ahead_s", "starts"), [(998.0, True), (999.0, False)])
def test_jobs_of_unknown_length_avoid_reserved_gpus_for_reserve_ahead_s(ahead_s: float, starts: bool) -> None:
    scene = with_reservation(reserved(0, 1), reserve_ahead_s=ahead_s)
    scene.submit(a_spec(owner="bob"))
    assert scene.at_work() == ([1] if starts else [])


def test_others_use_the_gpus_that_are_not_reserved() -> None:
    scene = with_reservation(reserved(0), gpus=3)
    scene.submit(*[a_spec(owner="bob")] * 3)
    assert scene.starts() == [(1, [1]), (2, [2])]


def test_no_other_owner_starts_a_job_during_the_reservation() -> None:
    scene = with_reservation(reserved(0, 1), now=2100.0)
    scene.submit(a_spec(owner="bob", time_limit_s=1.0))
    assert scene.at_work() == []
    scene.submit(a_spec(owner="ann"))
    assert scene.at_work() == [2]


def test_the_owners_jobs_prefer_the_reserved_gpus() -> None:
    scene = with_reservation(reserved(2, 3), gpus=4, now=2100.0)
    scene.submit(a_spec(gpus=2))
    assert scene.starts() == [(1, [2, 3])]
    assert scene.state.reservations[1].is_used
    assert scene.state.take_changes().reservations[1] == replace(reserved(2, 3), is_used=True)
    scene.submit(a_spec())
    assert scene.starts() == [(2, [0])]


def test_a_later_job_does_not_take_gpus_planned_for_the_owners_wide_job() -> None:
    """Job 2 is planned on both GPUs after job 1; job 3 would hold one of them for long."""
    scene = with_reservation(reserved(0, 1), gpus=2, now=2100.0)
    scene.submit(a_spec(time_limit_s=100.0))
    scene.submit(a_spec(gpus=2), a_spec(time_limit_s=10_000.0))
    assert scene.at_work() == [1]
    scene.finish(1)
    assert scene.at_work() == [2]


def test_other_owners_start_when_the_reservation_ends() -> None:
    scene = with_reservation(reserved(0, 1), now=2100.0, no_show_s=1e9)
    scene.submit(a_spec(owner="bob"))
    scene.now = 2998.0
    scene.pass_s(1.0)
    assert scene.at_work() == []
    scene.pass_s(1.0)
    assert (scene.at_work(), scene.state.reservations) == ([1], {})
    assert scene.notices() == []


def test_other_owners_start_when_it_ends_during_another_event() -> None:
    scene = with_reservation(reserved(0), gpus=2, now=2990.0, no_show_s=1e9)
    scene.submit(*[a_spec(owner="bob")] * 2)
    scene.now = 2999.0
    scene.begin()
    assert scene.at_work() == [1, 2]


def test_a_person_ends_the_reservation() -> None:
    scene = with_reservation(reserved(0, 1), now=2100.0)
    scene.submit(a_spec(owner="bob"))
    scene.happen(ReservationEnded(reservation=1, by="ann"))
    assert scene.at_work() == [1]
    assert scene.state.take_changes().reservations == {1: None}


def test_an_unused_reservation_is_released_with_a_notification() -> None:
    scene = with_reservation(reserved(0, 1), now=2000.0, no_show_s=600.0)
    scene.submit(a_spec(owner="bob"))
    scene.now = 2598.0
    scene.pass_s(1.0)
    assert (scene.at_work(), scene.notices()) == ([], [])
    scene.pass_s(1.0)
    assert (scene.at_work(), scene.notices()) == ([1], ["reservation-released"])
    assert scene.state.take_changes().reservations == {1: None}


def test_a_reservation_that_was_used_stays_even_when_idle() -> None:
    scene = with_reservation(reserved(0, 1), now=2000.0, no_show_s=600.0)
    scene.run(a_spec())
    scene.finish(1)
    scene.pass_s(900.0)
    assert (scene.notices(), list(scene.state.reservations)) == ([], [1])


def test_a_job_that_ran_before_the_begin_counts_as_use() -> None:
    scene = with_reservation(reserved(0, 1), now=1500.0, no_show_s=600.0)
    scene.run(a_spec())
    scene.pass_s(1500.0 - 10.0)
    assert scene.now < UNTIL
    assert (scene.notices(), scene.state.reservations[1].is_used) == ([], True)


def test_a_drained_gpu_is_replaced_by_another() -> None:
    scene = with_reservation(reserved(0, 1), gpus=3)
    scene.happen(GpusDrained(node=BOX, gpus=(GpuUuid("box-0"),), by="root", reason="fan"))
    scene.pass_s(1.0)
    assert scene.state.reservations[1].gpus == ("box-2", "box-1")
    assert scene.state.take_changes().reservations[1] == scene.state.reservations[1]


def test_a_drained_gpu_stays_reserved_without_another() -> None:
    scene = with_reservation(reserved(0, 1), gpus=2)
    scene.happen(GpusDrained(node=BOX, gpus=(GpuUuid("box-0"),), by="root", reason="fan"))
    scene.pass_s(1.0)
    assert scene.state.reservations[1].gpus == ("box-0", "box-1")


def choose(scene: Scene, gpus: int, begins_at: float = FROM, ends_at: float = UNTIL) -> list[str] | None:
    found = chosen_gpus(scene.state, gpus=gpus, owner="ann", begins_at=begins_at, ends_at=ends_at)
    return None if found is None else list(found[1])


def test_free_gpus_are_reserved_first_then_those_with_a_known_end() -> None:
    scene = Scene(gpus=4)
    scene.submit(a_spec(owner="bob", name="a"), a_spec(owner="bob", time_limit_s=500.0), a_spec(owner="ann"))
    held = {job: scene.gpus_of(job)[0] for job in (1, 2, 3)}
    assert choose(scene, 2) == sorted([f"box-{held[3]}", "box-3"])
    assert choose(scene, 3) == [*sorted([f"box-{held[3]}", "box-3"]), f"box-{held[2]}"]
    assert choose(scene, 4) is not None
    assert choose(scene, 5) is None


def test_no_gpu_is_reserved_twice_for_one_time() -> None:
    scene = with_reservation(reserved(0, 1), gpus=3)
    assert choose(scene, 2) is None
    assert choose(scene, 1) == ["box-2"]
    assert choose(scene, 3, begins_at=UNTIL, ends_at=UNTIL + 1) == ["box-0", "box-1", "box-2"]
    assert choose(scene, 3, begins_at=0.0, ends_at=FROM) == ["box-0", "box-1", "box-2"]


def test_drained_gpus_are_not_reserved() -> None:
    scene = Scene(gpus=2)
    scene.happen(GpusDrained(node=BOX, gpus=(GpuUuid("box-0"),), by="root", reason="fan"))
    assert choose(scene, 1) == ["box-1"]
    assert choose(scene, 2) is None
