"""When the next timed change is due; the controller sleeps until then."""

from __future__ import annotations

from tarmac.core.events import JobsHeld, JobsReleased, ReservationMade
from tarmac.core.forecast.wakeups import HOURS_AGAIN_S, next_due
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.queue import Reservation
from tarmac.core.model.rules import PerName
from tests.core.support.builders import BOX, a_spec
from tests.core.support.scene import Scene


def due(scene: Scene) -> float | None:
    return next_due(scene.state, scene.now)


def test_nothing_is_due_when_nothing_waits() -> None:
    scene = Scene()
    assert due(scene) is None
    scene.run(a_spec(time_limit_s=50.0))
    assert due(scene) is None, "the node itself looks after limits"


def test_the_earliest_begin_time_is_due() -> None:
    scene = Scene()
    scene.submit(a_spec(begin_at=5000.0), a_spec(begin_at=3000.0))
    assert due(scene) == 3000.0
    scene.pass_s(2500.0)
    assert due(scene) == 5000.0


def test_the_begin_time_of_a_held_job_wakes_once_without_effect() -> None:
    scene = Scene()
    scene.submit(a_spec(begin_at=1500.0))
    scene.happen(JobsHeld(jobs=(JobId(1),), by="ann"))
    assert due(scene) == 1500.0
    scene.pass_s(600.0)
    assert (due(scene), scene.states()) == (None, ["held"])
    scene.happen(JobsReleased(jobs=(JobId(1),), by="ann"))
    assert scene.states() == ["starting"]


def test_the_moment_a_wide_job_is_overdue_is_due_and_then_the_end_of_what_is_expected() -> None:
    scene = Scene(gpus=2, starvation_s=600.0)
    scene.run()
    scene.submit(gpus=2)
    submitted_at = scene.now
    assert due(scene) == submitted_at + 600.0
    scene.pass_s(600.0)
    assert due(scene) == 1002.0 + 3600.0, "job 1 is expected to take an hour"
    scene.pass_s(3600.0)
    assert due(scene) == 1002.0 + 7200.0


def test_a_reservation_is_due_at_its_begin_its_no_show_and_its_end() -> None:
    scene = Scene(no_show_s=300.0)
    made = Reservation(id=1, owner="ann", node=BOX, gpus=(GpuUuid("box-0"),), begins_at=2000.0, ends_at=9000.0, by="r")
    scene.happen(ReservationMade(reservation=made))
    assert due(scene) == 2000.0
    scene.now = 1999.0
    scene.pass_s(1.0)
    assert due(scene) == 2300.0
    scene.run()
    assert scene.state.reservations[1].is_used
    assert due(scene) == 9000.0
    scene.now = 8999.0
    scene.pass_s(1.0)
    assert due(scene) is None


def test_weekly_hours_are_rechecked_while_a_job_waits() -> None:
    scene = Scene(gpus=0, gpu_hours_per_user=PerName(5.0))
    assert due(scene) is None
    scene.submit()
    assert due(scene) == scene.now + HOURS_AGAIN_S


def test_the_next_due_time_is_never_in_the_past() -> None:
    scene = Scene()
    scene.submit(a_spec(begin_at=3000.0))
    late = next_due(scene.state, 4000.0)
    assert late is not None
    assert 4000.0 < late < 4001.0
