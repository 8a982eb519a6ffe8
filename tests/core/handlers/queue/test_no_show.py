"""A reservation stays if its owner's jobs wait but cannot start."""

from __future__ import annotations

import pytest

from tarmac.core.events import QueuePaused, QueueResumed, ReservationMade
from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.queue import Reservation
from tests.core.support.builders import BOX, a_spec
from tests.core.support.scene import Scene

MADE = Reservation(
    id=1, owner="ann", node=BOX, gpus=(GpuUuid("box-0"), GpuUuid("box-1")), begins_at=2000.0, ends_at=9000.0, by="root"
)


def held_by_bob() -> Scene:
    """Bob's job holds both GPUs when the reservation begins."""
    scene = Scene(gpus=2, no_show_s=600.0)
    scene.run(a_spec(gpus=2, owner="bob"))
    scene.now = 2000.0
    scene.happen(ReservationMade(reservation=MADE))
    return scene


def test_a_reservation_stays_while_its_owner_waits_for_its_gpus() -> None:
    scene = held_by_bob()
    scene.submit(a_spec(owner="ann"))
    scene.pass_s(700.0)
    assert (scene.notices(), list(scene.state.reservations)) == ([], [1])
    scene.finish(1)
    assert scene.state_of(2) == "starting"
    assert scene.state.reservations[1].is_used


@pytest.mark.parametrize("spec", [None, a_spec(gpus=0, owner="ann"), a_spec(owner="cat")])
def test_a_reservation_without_waiting_jobs_is_released(spec: object) -> None:
    scene = held_by_bob()
    if spec is not None:
        scene.submit(spec)  # type: ignore[arg-type]
    scene.pass_s(700.0)
    assert scene.notices() == ["reservation-released"]


def test_a_reservation_stays_while_the_queue_is_paused() -> None:
    scene = Scene(gpus=2, no_show_s=600.0)
    scene.now = 2000.0
    scene.happen(QueuePaused(by="root"))
    scene.happen(ReservationMade(reservation=MADE))
    scene.submit(a_spec(owner="ann"))
    scene.pass_s(700.0)
    assert list(scene.state.reservations) == [1]
    scene.happen(QueueResumed(by="root"))
    assert scene.state.reservations[1].is_used


def test_a_reservation_stays_while_its_node_is_away_and_its_owner_waits() -> None:
    scene = Scene(gpus=2, no_show_s=600.0)
    scene.now = 2000.0
    scene.happen(ReservationMade(reservation=MADE))
    scene.leave()
    scene.submit(a_spec(owner="ann"))
    scene.pass_s(700.0)
    assert list(scene.state.reservations) == [1]


def test_a_reservation_is_released_if_its_owner_could_have_started() -> None:
    scene = Scene(gpus=2, no_show_s=600.0)
    scene.now = 2000.0
    scene.happen(ReservationMade(reservation=MADE))
    scene.submit(a_spec(owner="ann", gpus=3))
    scene.pass_s(700.0)
    assert scene.notices() == ["reservation-released"]
