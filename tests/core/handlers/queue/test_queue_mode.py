"""The mode of the queue: paused, drained, stopped, and paused automatically after many quick failures."""

from __future__ import annotations

import pytest

from tarmac.core.events import QueueDrained, QueuePaused, QueueResumed, QueueStopped, StartForced
from tarmac.core.forecast.queue_forecast import line_up
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.queue import Mode
from tarmac.core.policy.eligibility import Paused
from tests.core.support.builders import BOX, a_spec
from tests.core.support.explaining import explain
from tests.core.support.scene import Scene


def test_a_paused_queue_starts_nothing_and_says_why() -> None:
    scene = Scene()
    scene.run()
    scene.happen(QueuePaused(by="root", reason="new driver"))
    paused_at = scene.now
    assert scene.state.changes.mode == Mode(is_paused=True, by="root", reason="new driver", since=paused_at)
    scene.submit()
    scene.finish(1)
    scene.pass_s(1e6)
    assert scene.states() == ["succeeded", "queued"]
    why = explain(scene.state, scene.jobs[JobId(2)], scene.now)
    assert why[0] == Paused(by="root", reason="new driver", since=paused_at)
    scene.happen(QueueResumed(by="root"))
    assert scene.starts() == [(2, [0])]
    assert scene.state.mode == Mode()


def test_a_draining_queue_still_starts_waiting_jobs() -> None:
    scene = Scene(gpus=1)
    scene.run()
    scene.submit()
    scene.happen(QueueDrained(by="root", reason="move"))
    assert scene.state.mode == Mode(is_draining=True, by="root", reason="move", since=scene.now)
    scene.finish(1)
    assert scene.starts() == [(2, [0])]


def test_pausing_a_draining_queue_keeps_it_draining() -> None:
    scene = Scene()
    scene.happen(QueueDrained(by="root"))
    scene.happen(QueuePaused(by="ann"))
    assert (scene.state.mode.is_draining, scene.state.mode.is_paused) == (True, True)
    scene.happen(QueueResumed(by="ann"))
    assert scene.state.mode == Mode()


@pytest.mark.parametrize("event", [QueuePaused(by="ann"), QueueDrained(by="ann"), QueueDrained(by="ann", reason="")])
def test_a_request_without_a_reason_keeps_the_earlier_reason(event: QueuePaused | QueueDrained) -> None:
    scene = Scene()
    scene.happen(QueuePaused(by="root", reason="new driver"))
    paused_at = scene.now
    scene.happen(event)
    mode = scene.state.mode
    assert (mode.is_paused, mode.is_draining) == (True, isinstance(event, QueueDrained))
    assert (mode.by, mode.reason, mode.since) == ("root", "new driver", paused_at)


def test_a_later_reason_replaces_the_earlier_one() -> None:
    scene = Scene()
    scene.happen(QueuePaused(by="root", reason="new driver"))
    scene.happen(QueueDrained(by="ann", reason="move"))
    assert scene.state.mode == Mode(is_paused=True, is_draining=True, by="ann", reason="move", since=scene.now)


def stopped(scene: Scene) -> list[int]:
    """Stop the queue. Returns the order of the requeued jobs."""
    scene.happen(QueueStopped(by="root"))
    for number in scene.at_work():
        scene.finish(number, exit_code=None, signal=15)
    assert scene.starts() == []
    return [int(job) for job in line_up(scene.state, scene.now)]


def test_stopping_the_queue_requeues_running_jobs_first_in_their_order() -> None:
    scene = Scene(gpus=3, policy="fifo")
    scene.run(*[a_spec()] * 3)
    scene.submit(a_spec(), a_spec())
    assert stopped(scene) == [1, 2, 3, 4, 5]
    scene.happen(QueueResumed(by="root"))
    assert [job for job, _ in scene.starts()] == [1, 2, 3]
    assert [scene.jobs[JobId(job)].attempt for job in (1, 2, 3)] == [2, 2, 2]


def test_requeued_jobs_keep_their_order_even_if_some_ranked_last() -> None:
    """Jobs 1 and 2 rank before the waiting wide job; 4 and 5 were backfilled."""
    scene = Scene(gpus=4, policy="fifo")
    scene.run(a_spec(), a_spec())
    scene.submit(gpus=4)
    scene.run(a_spec(), a_spec())
    assert scene.at_work() == [1, 2, 4, 5]
    assert stopped(scene) == [1, 2, 4, 5, 3]


def test_each_job_gets_its_own_signal_and_the_grace_of_the_stop() -> None:
    scene = Scene(gpus=2)
    scene.run(a_spec(signal=2, grace_s=30.0), a_spec())
    scene.happen(QueueStopped(by="root", grace_s=3.0))
    assert sorted((s.job, s.signal, s.grace_s) for s in scene.signals()) == [(1, 2, 3.0), (2, 15, 3.0)]
    assert scene.state.mode.is_paused


def test_a_job_that_is_already_stopping_is_not_requeued() -> None:
    scene = Scene(gpus=1)
    scene.run()
    scene.stop(1)
    scene.happen(QueueStopped(by="root"))
    assert scene.signals() == []
    scene.finish(1, exit_code=None, signal=15)
    assert scene.states() == ["cancelled"]


def test_a_start_by_force_works_in_a_paused_queue() -> None:
    scene = Scene()
    scene.happen(QueuePaused(by="root"))
    scene.submit()
    scene.happen(StartForced(job=JobId(1), node=BOX, gpus=(GpuUuid("box-1"),), by="ann"))
    assert scene.starts() == [(1, [1])]
