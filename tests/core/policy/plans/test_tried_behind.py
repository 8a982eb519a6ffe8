"""Jobs behind the first of a class are tried as well: their lengths differ, so one may pass a plan and another not."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core.events import QueuePaused, QueueResumed
from tarmac.core.model.job import JobSpec
from tarmac.core.model.rules import PerName
from tarmac.core.policy import scheduling_pass
from tarmac.core.policy.scheduling_pass import Pass
from tarmac.core.queue.queue import MAX_FIRST
from tests.core.support.builders import a_spec
from tests.core.support.scene import Scene


def held_back(free: int = 2, **rules: Any) -> Scene:
    """One GPU is busy until about 1100, some are free, and job 2, which goes first, waits for all of them."""
    scene = Scene(**{"gpus": free + 1, "policy": "fifo", "shares": PerName(1.0, (("zoe", 0.0),)), **rules})
    scene.run(a_spec(owner="zoe", time_limit_s=100.0))
    scene.submit(a_spec(owner="zoe", gpus=free + 1, name="wide"))
    scene.happen(QueuePaused(by="root"))
    return scene


def resumed(scene: Scene) -> list[int]:
    scene.happen(QueueResumed(by="root"))
    return [job for job, _ in scene.starts()]


def of(seconds: float, **more: Any) -> JobSpec:
    """Limits between 64 and 127 seconds share a class."""
    return a_spec(time_limit_s=seconds, **more)


@pytest.mark.parametrize("policy", ["fifo", "balance", "fairshare"])
@pytest.mark.parametrize("order", ["submitted", "expected"])
def test_a_short_job_behind_a_long_one_of_its_class_is_backfilled(policy: str, order: str) -> None:
    scene = held_back(policy=policy, order=order)
    scene.submit(of(120.0), of(70.0), of(110.0), of(80.0))
    assert len(scene.state.queue.classes) == 2
    assert sorted(resumed(scene)) == [4, 6]
    turn = Pass(scene.state, scene.now)
    assert list(turn.run()) == [], "nothing is left to do"


def test_they_start_in_the_order_of_their_places() -> None:
    scene = held_back(free=1)
    scene.submit(of(120.0), of(80.0), of(70.0))
    assert resumed(scene) == [4]


def test_jobs_of_other_classes_that_come_before_them_go_first() -> None:
    """Job 4 of another class stands between the first of the class and the one that fits."""
    scene = held_back(free=1)
    scene.submit(of(120.0), of(30.0), of(70.0))
    assert resumed(scene) == [4]
    scene = held_back(free=1)
    scene.submit(of(120.0), of(70.0), of(30.0))
    assert resumed(scene) == [4]


def test_under_fifo_jobs_of_other_owners_that_come_before_them_go_first() -> None:
    scene = held_back(free=1)
    scene.submit(of(120.0), of(70.0, owner="bob"), of(70.0))
    assert resumed(scene) == [4]
    scene = held_back(free=1)
    scene.submit(of(120.0), of(70.0), of(70.0, owner="bob"))
    assert resumed(scene) == [4]


def test_under_balance_owners_take_turns_with_the_jobs_that_fit() -> None:
    scene = held_back(free=2, policy="balance")
    scene.submit(of(120.0), of(70.0), of(70.0), of(120.0, owner="bob"), of(70.0, owner="bob"))
    assert resumed(scene) == [4, 7]


def test_only_so_many_jobs_of_a_class_are_tried() -> None:
    scene = held_back(free=1)
    scene.submit(*[of(120.0)] * (MAX_FIRST - 1), of(70.0), of(70.0))
    assert resumed(scene) == [2 + MAX_FIRST]
    scene = held_back(free=1)
    scene.submit(*[of(120.0)] * MAX_FIRST, of(70.0))
    assert resumed(scene) == []


def test_a_class_that_fits_nowhere_is_not_tried_job_by_job(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = held_back(free=1)
    scene.submit(*[of(70.0, gpus=2)] * 40)
    tried: list[int] = []
    asked = scheduling_pass.booking_for

    def counted(*given: Any) -> Any:
        tried.append(given[1].id)
        return asked(*given)

    monkeypatch.setattr(scheduling_pass, "booking_for", counted)
    assert resumed(scene) == []
    assert len(tried) <= 2


def test_jobs_without_limits_are_tried_by_what_their_namesakes_took() -> None:
    scene = Scene(gpus=2, policy="fifo")
    scene.run(a_spec(name="short"), a_spec(owner="zoe", name="long"))
    scene.pass_s(20.0)
    scene.finish(1)
    scene.pass_s(80.0)
    scene.finish(2)
    scene.run(a_spec(owner="zoe", name="long"))
    scene.submit(a_spec(owner="zoe", gpus=2, name="wide"))
    scene.happen(QueuePaused(by="root"))
    scene.submit(a_spec(name="like short"), a_spec(name="short"))
    scene.state.runtimes.recent_s_of_width["ann", 1].extend([1e4, 1e4])
    assert resumed(scene) == [6]


def test_without_a_plan_nothing_is_tried_behind_the_first() -> None:
    scene = Scene(gpus=2, policy="fifo", planned_starts=0)
    scene.run(a_spec())
    scene.submit(*[a_spec(gpus=2, name="wide")] * 3)
    assert Pass(scene.state, scene.now).plans == []
    assert scene.at_work() == [1]
