"""When the next timed change is due; the controller sleeps until then."""

from __future__ import annotations

from math import inf

from hypothesis import given

from tarmac.core.events import JobsHeld, JobsReleased, NodeJoined, ProgressSeen, ReservationMade
from tarmac.core.forecast.wakeups import HOURS_AGAIN_S, next_due
from tarmac.core.handlers.clock import set_clock
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.node import Node
from tarmac.core.model.plan import EndByProgress, PlannedStart
from tarmac.core.model.queue import Reservation
from tarmac.core.model.rules import PerName, Rules
from tarmac.core.model.status import Running
from tarmac.core.policy.scheduling_pass import Pass
from tests.core.support.builders import BOX, a_node, a_spec
from tests.core.support.crowds import PastRun, crowd_rules, crowd_steps, learn, past_runs, plain_nodes
from tests.core.support.effort import tries
from tests.core.support.play import Play, Step
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


def planned_on_history(**rules: object) -> Scene:
    """Job 2 is expected to end 300 s after its start, as its namesake did. Job 3 waits for both GPUs."""
    scene = Scene(**{"gpus": 2, "policy": "fifo", **rules})  # type: ignore[arg-type]
    scene.run(a_spec(name="train"))
    scene.pass_s(300.0)
    scene.finish(1, started_at=scene.now + 1.0 - 300.0)
    scene.run(a_spec(name="train"))
    scene.submit(a_spec(gpus=2, name="wide"))
    return scene


def began(scene: Scene, job: int) -> float:
    status = scene.status(job)
    assert isinstance(status, Running)
    return status.started_at


def test_a_plan_is_made_anew_when_an_expectation_runs_out_although_nothing_else_happens() -> None:
    scene = planned_on_history()
    scene.submit(a_spec(owner="bob", time_limit_s=400.0))
    assert scene.starts() == [], "it would not be over in time"
    outlived_at = began(scene, 2) + 300.0
    assert due(scene) == outlived_at
    scene.pass_s(outlived_at - scene.now)
    assert scene.now == outlived_at
    assert due(scene) == began(scene, 2) + 600.0
    assert scene.starts() == [], "job 2 is expected to be over in 300 s"
    scene.pass_s(300.0)
    assert [job for job, _ in scene.starts()] == [4], "job 2 is expected to take 600 s more"


def test_an_end_by_progress_that_passes_is_due() -> None:
    scene = planned_on_history()
    at = scene.now + 50.0
    scene.happen(ProgressSeen(ends=(EndByProgress(JobId(2), 1, at),)))
    assert due(scene) == at
    scene.pass_s(at - scene.now)
    assert due(scene) == began(scene, 2) + 300.0, "the bar was wrong, so its namesakes count again"


def test_an_expectation_is_due_only_while_a_job_waits() -> None:
    scene = planned_on_history()
    scene.stop(3)
    assert due(scene) is None


def test_a_plan_that_rests_on_limits_wakes_nobody() -> None:
    scene = Scene(gpus=2, policy="fifo", starvation_s=1e18)
    scene.run(a_spec(time_limit_s=300.0))
    scene.submit(a_spec(gpus=2))
    (planned,) = plans(scene)
    assert planned.good_until == inf
    assert due(scene) == scene.state.stuck_since[JobId(2)] + 1e18


def test_the_first_of_several_plans_whose_expectation_runs_out_is_due() -> None:
    scene = Scene(gpus=2, shares=PerName(1.0, (("bob", 0.0),)), starvation_s=1e18)
    for other, gpus in (("other", 2), ("empty 1", 0), ("empty 2", 0), ("empty 3", 0)):
        scene.state.nodes[NodeName(other)] = a_node(gpus=gpus, name=other)
        scene.happen(NodeJoined(node=NodeName(other), cpu_job_slots=1, runs=()))
    for name, seconds in (("long", 900.0), ("short", 300.0)):
        scene.run(a_spec(owner="bob", gpus=2, name=name))
        scene.pass_s(seconds)
        scene.finish(scene.at_work()[0])
    scene.run(*(a_spec(owner="bob", gpus=2, name=name) for name in ("long", "short")))
    scene.submit(*[a_spec(gpus=2, name="wide")] * 2)
    short, long = plans(scene)
    assert (short.job, long.job) == (5, 6)
    assert due(scene) == scene.state.replan_at == short.good_until < long.good_until


def test_the_clock_is_set_and_the_expectation_runs_out_after_the_same_time() -> None:
    scene = planned_on_history()
    before = due(scene)
    assert before is not None
    set_clock(scene.state, 7200.0)
    scene.now += 7200.0
    assert due(scene) == before + 7200.0


def plans(scene: Scene) -> list[PlannedStart]:
    turn = Pass(scene.state, scene.now)
    assert list(turn.run()) == []
    return turn.plans


@tries(100)
@given(rules=crowd_rules, nodes=plain_nodes(), past=past_runs, steps=crowd_steps())
def test_between_two_moments_that_are_due_time_alone_changes_nothing(
    rules: Rules, nodes: list[Node], past: list[PastRun], steps: list[Step]
) -> None:
    """What is decided a moment before the next one is what would be decided now."""
    play = Play(nodes, rules)
    learn(play.state, past)
    for step in steps:
        play.take(step)
    moment = next_due(play.state, play.now)
    until = play.now + 100.0 if moment is None else min(play.now + 100.0, moment)
    for part in (0.3, 0.999):
        then = play.now + part * (until - play.now)
        assert next(Pass(play.state, then).run(), None) is None
