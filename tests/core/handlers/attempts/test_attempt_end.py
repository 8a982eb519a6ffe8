"""What follows the end of an attempt: it is recorded, and the job ends, is requeued or tried again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.core.events import GpusSeen, JobsHeld, JobsReleased, JobsRetried, NodeSampled
from tarmac.core.explain.reasons import RetryAt
from tarmac.core.forecast.wakeups import next_due
from tarmac.core.model.attempt import Attempt
from tarmac.core.model.gpu import Gpu, NamedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import After, Request
from tarmac.core.model.status import Cancelled, Failed, Queued, Requeue, Unknown
from tarmac.core.policy.feasibility import lack
from tarmac.core.state import State
from tests.core.support.builders import BOX, a_spec, exited, launch_failed, lost
from tests.core.support.explaining import explain
from tests.core.support.scene import Scene

GB = 10**9


def attempts(scene: Scene) -> list[Attempt]:
    return scene.state.changes.attempts


def end(scene: Scene, job: int = 1, **how: Any) -> None:
    scene.begin(job)
    scene.finish(job, **{"exit_code": 1, **how})


def test_a_failed_job_is_tried_again_at_once_and_then_fails_for_good() -> None:
    scene = Scene(retry_delay_s=0.0)
    scene.run(retries=1)
    scene.finish(exit_code=3)
    assert (scene.starts(), scene.jobs[JobId(1)].attempt) == ([(1, [0])], 2)
    assert scene.forgotten() == [(1, 1)]
    scene.begin()
    scene.finish(exit_code=4)
    status = scene.status()
    assert isinstance(status, Failed)
    assert (status.exit_code, scene.state.jobs) == (4, {})
    assert [(one.number, one.end, one.exit_code) for one in attempts(scene)] == [(1, "failed", 3), (2, "failed", 4)]
    assert [gpu.index for gpu in attempts(scene)[0].booking.gpus] == [0]


def test_a_job_without_retries_runs_once() -> None:
    scene = Scene()
    scene.run()
    scene.finish(exit_code=1)
    assert (scene.states(), scene.starts()) == (["failed"], [])


def test_each_wait_is_twice_the_one_before_up_to_the_longest() -> None:
    scene = Scene(retry_delay_s=10.0, retry_max_delay_s=35.0)
    scene.submit(a_spec(retries=6))
    waits = []
    for _ in range(5):
        end(scene)
        status = scene.status()
        waits.append(status.retry_wait_s if isinstance(status, Queued) else 0.0)
        if isinstance(status, Queued):
            scene.pass_s(status.retry_wait_s)
    assert waits == [0.0, 10.0, 20.0, 35.0, 35.0]


def test_a_delay_of_its_own_applies_from_the_first_retry_on() -> None:
    scene = Scene(retry_max_delay_s=100.0)
    scene.submit(a_spec(retries=3, retry_delay_s=60.0))
    end(scene)
    status = scene.status()
    assert isinstance(status, Queued)
    assert (status.retry_at, status.retry_wait_s) == (scene.now + 60.0, 60.0)
    reason = Requeue(why="failed", reason="exit", detail=1).note
    why = RetryAt(job=JobId(1), at=scene.now + 60.0, attempt=2, reason=reason)
    assert explain(scene.state, scene.jobs[JobId(1)], scene.now) == (why,)
    assert next_due(scene.state, scene.now) == status.retry_at
    scene.pass_s(59.0)
    assert scene.starts() == []
    scene.pass_s(1.0)
    assert scene.starts() == [(1, [0])]


def test_a_delay_longer_than_the_longest_is_kept() -> None:
    scene = Scene(retry_max_delay_s=100.0)
    scene.submit(a_spec(retries=3, retry_delay_s=300.0))
    end(scene)
    scene.pass_s(299.0)
    assert scene.starts() == []
    scene.pass_s(1.0)
    end(scene)
    scene.pass_s(300.0)
    assert scene.starts() == [(1, [0])]


def test_the_wait_survives_a_restart_and_does_not_grow_with_a_clock_that_is_set_back() -> None:
    scene = Scene()
    scene.submit(a_spec(retries=1, retry_delay_s=60.0))
    end(scene)
    again = State()
    again.load([replace(scene.jobs[JobId(1)])], next_id=2, now=scene.now - 5000.0)
    assert again.jobs[JobId(1)].not_before == scene.now - 5000.0 + 60.0
    scene.now -= 5000.0
    scene.pass_s(1.0)
    assert scene.jobs[JobId(1)].not_before == scene.now + 60.0
    scene.pass_s(60.0)
    assert scene.starts() == [(1, [0])]


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("exit", {"exit_code": 1}),
        ("signal", {"exit_code": None, "signal": 11}),
        ("oom", {"exit_code": 1, "oom": "gpu"}),
        ("oom", {"exit_code": None, "signal": 9, "oom": "host"}),
        ("timeout", {"exit_code": None, "signal": 15, "timed_out": True}),
    ],
)
def test_only_the_chosen_ends_are_tried_again(kind: Any, how: dict[str, Any]) -> None:
    others: Any = tuple(other for other in ("exit", "signal", "oom", "timeout", "lost", "launch") if other != kind)
    scene = Scene()
    scene.submit(a_spec(retries=1, retry_on=(kind,)), a_spec(retries=1, retry_on=others))
    end(scene, 1, **how)
    end(scene, 2, **how)
    assert scene.states() == ["starting", "failed"]


@pytest.mark.parametrize(("on", "state"), [("lost", "starting"), ("exit", "unknown")])
def test_a_lost_attempt_is_tried_again_only_if_its_owner_asked_for_that(on: Any, state: str) -> None:
    scene = Scene()
    scene.run(retries=1, retry_on=(on,))
    scene.report(lost(1))
    assert scene.states() == [state]


def test_a_lost_attempt_with_processes_is_not_tried_again_before_they_are_gone() -> None:
    scene = Scene()
    scene.run(retries=1, retry_on=("lost",))
    scene.report(replace(lost(1), is_alive=True))
    assert (scene.states(), attempts(scene)) == (["unknown"], [])
    scene.join()
    assert scene.starts() == [(1, [0])]


def test_a_launch_failure_is_tried_again() -> None:
    scene = Scene()
    scene.submit(a_spec(retries=1))
    scene.report(launch_failed(1))
    assert scene.starts() == [(1, [0])]
    assert attempts(scene)[0].started_at is None


@pytest.mark.parametrize("report", [exited(1, exit_code=1), launch_failed(1), lost(1)])
def test_nothing_is_tried_again_after_a_persons_kill(report: Any) -> None:
    scene = Scene()
    scene.run(retries=3, retry_on=("exit", "signal", "oom", "timeout", "lost", "launch"))
    scene.stop()
    scene.report(report)
    assert (scene.starts(), isinstance(scene.status(), Cancelled | Unknown), scene.state.jobs) == ([], True, {})


def test_a_kill_while_it_waits_ends_the_job() -> None:
    scene = Scene()
    scene.submit(a_spec(retries=1, retry_delay_s=60.0))
    end(scene)
    scene.stop()
    scene.pass_s(100.0)
    assert (scene.states(), scene.starts()) == (["cancelled"], [])


def test_a_job_that_waits_may_be_held_and_released() -> None:
    scene = Scene()
    scene.submit(a_spec(retries=1, retry_delay_s=60.0))
    end(scene)
    scene.happen(JobsHeld(jobs=(JobId(1),), by="ann"))
    scene.pass_s(100.0)
    assert scene.states() == ["held"]
    scene.happen(JobsReleased(jobs=(JobId(1),), by="ann"))
    assert (scene.starts(), scene.jobs[JobId(1)].attempt) == ([(1, [0])], 2)


def test_a_late_report_of_an_earlier_attempt_changes_nothing() -> None:
    scene = Scene(gpus=1)
    scene.run(retries=3)
    scene.finish(exit_code=1)
    scene.report(exited(1, attempt=1, exit_code=0))
    assert (scene.states(), scene.forgotten()) == (["starting"], [(1, 1)])


def test_dependents_wait_until_no_attempt_is_left() -> None:
    scene = Scene(gpus=1)
    (first,) = scene.submit(a_spec(retries=1))
    scene.submit(a_spec(after=(After(job=first, on="fail"),)))
    end(scene)
    assert scene.states() == ["starting", "queued"]
    end(scene)
    assert scene.states() == ["failed", "starting"]


def test_an_adopted_or_taken_in_job_is_never_tried_again() -> None:
    assert not a_spec(is_adopted=True).can_run_again
    scene = Scene()
    scene.run(retries=1, environment="")
    scene.finish(exit_code=1)
    assert scene.states() == ["failed"]


# The time limit and preemption


def test_a_job_with_requeue_returns_to_the_queue_at_its_time_limit() -> None:
    scene = Scene()
    scene.submit(a_spec(requeue=True, time_limit_s=5.0))
    for attempt in (1, 2, 3):
        assert scene.jobs[JobId(1)].attempt == attempt
        end(scene, exit_code=None, signal=15, timed_out=True)
    assert [one.reason for one in attempts(scene)] == ["timeout"] * 3
    scene.begin()
    scene.finish()
    assert scene.states() == ["succeeded"]


def test_a_job_with_requeue_that_its_warning_ended_returns_to_the_queue() -> None:
    scene = Scene()
    scene.run(a_spec(requeue=True, time_limit_s=50.0, warn="USR1@20"), a_spec(time_limit_s=50.0, warn="USR1@20"))
    for number in (1, 2):
        ended = exited(number, exit_code=None, signal=10)
        scene.report(replace(ended, warned_at=ended.ended_at - 3.0, is_by_warning=True))
        (told,) = [line for line in scene.state.changes.story if line.kind == "EndWarned" and line.job == number]
        assert (told.at, told.detail) == (ended.ended_at - 3.0, {"signal": "USR1@20"})
    assert scene.states() == ["starting", "failed"]
    assert scene.jobs[JobId(1)].attempt == 2


def test_requeue_does_not_apply_to_other_failures_nor_after_a_kill() -> None:
    scene = Scene()
    scene.run(a_spec(requeue=True), a_spec(requeue=True))
    scene.finish(1, exit_code=1)
    scene.stop(2)
    scene.finish(2, exit_code=None, signal=15, timed_out=True)
    assert scene.states() == ["failed", "cancelled"]


def test_requeue_and_preemption_use_up_no_retries() -> None:
    scene = Scene(gpus=1)
    scene.submit(a_spec(requeue=True, retries=1, tier="preemptible"))
    end(scene, exit_code=None, signal=15, timed_out=True)
    scene.begin()
    scene.submit(a_spec(tier="urgent"))
    scene.finish(1, exit_code=0, was_signalled=True)
    assert [one.end for one in attempts(scene)] == ["failed", "preempted"]
    end(scene, 2, exit_code=0)
    end(scene, 1)
    assert (scene.states(), scene.jobs[JobId(1)].retried) == (["starting", "succeeded"], 1)
    end(scene, 1)
    assert scene.states() == ["failed", "succeeded"]


# Out of memory


def out_of_memory(scene: Scene, job: int = 1, **more: Any) -> None:
    end(scene, job, oom="gpu", **more)


def sized(scene: Scene, *totals: int) -> None:
    gpus = tuple(
        Gpu(uuid=GpuUuid(f"box-{index}"), index=index, memory_total_bytes=total) for index, total in enumerate(totals)
    )
    scene.happen(GpusSeen(node=BOX, gpus=gpus))


def a_shared_spec(**more: Any) -> Any:
    request = Request(gpus=1, **{key: more.pop(key) for key in ("gpu_memory_bytes", "gpu_share") if key in more})
    return replace(a_spec(**more), request=request)


@pytest.mark.parametrize(
    ("asked", "peak", "then"),
    [(4 * GB, 6 * GB, 7_500_000_000), (4 * GB, None, 5 * GB), (4 * GB, 1 * GB, 5 * GB), (20 * GB, 22 * GB, None)],
)
def test_grow_asks_for_more_than_the_job_used(asked: int, peak: int | None, then: int | None) -> None:
    scene = Scene(gpus=0)
    sized(scene, 24 * GB)
    scene.submit(a_shared_spec(gpu_memory_bytes=asked, retries=1, on_oom="grow"))
    out_of_memory(scene, peak_gpu_memory_bytes=peak)
    job = scene.jobs[JobId(1)]
    assert (job.spec.request.gpu_memory_bytes, job.ooms, job.attempt) == (then, 1, 2)
    assert JobId(1) in scene.state.changes.edited
    assert "RequestGrown" in scene.story()


@pytest.mark.parametrize(
    ("asked", "gpus", "more", "then"),
    [
        (9 * GB, 1, {"gpu_models": ("small",)}, None),
        (9 * GB, 1, {"exclude_gpus": (NamedGpu(uuid=GpuUuid("box-2"), index=2),)}, None),
        (9 * GB, 2, {}, None),
        (4 * GB, 2, {}, 5 * GB),
        (9 * GB, 1, {}, 11_250_000_000),
    ],
)
def test_grow_stays_within_the_gpus_that_the_job_accepts(
    asked: int, gpus: int, more: dict[str, Any], then: int | None
) -> None:
    scene = Scene(gpus=0)
    small = [Gpu(uuid=GpuUuid(f"box-{n}"), index=n, model="Small", memory_total_bytes=10 * GB) for n in (0, 1)]
    big = Gpu(uuid=GpuUuid("box-2"), index=2, model="Big", memory_total_bytes=80 * GB)
    scene.happen(GpusSeen(node=BOX, gpus=(*small, big)))
    request = Request(gpus=gpus, gpu_memory_bytes=asked, **more)
    scene.submit(replace(a_spec(retries=1, on_oom="grow"), request=request))
    out_of_memory(scene)
    assert scene.jobs[JobId(1)].spec.request == replace(request, gpu_memory_bytes=then)
    assert lack(scene.state, scene.jobs[JobId(1)].spec.request) is None


def test_grow_of_a_share_asks_for_a_whole_gpu() -> None:
    scene = Scene(gpus=0, retry_delay_s=0.0)
    sized(scene, 24 * GB)
    scene.submit(a_shared_spec(gpu_share=0.5, retries=2, on_oom="grow"))
    out_of_memory(scene)
    assert scene.jobs[JobId(1)].spec.request == Request(gpus=1)
    out_of_memory(scene)
    assert (scene.jobs[JobId(1)].ooms, scene.states()) == (2, ["starting"])


def test_grow_of_host_memory_stays_within_the_machine() -> None:
    scene = Scene()
    scene.state.nodes[BOX].memory_total_bytes = 10 * GB
    scene.happen(NodeSampled(node=BOX, uses=(), memory_available_bytes=10 * GB))
    scene.submit(replace(a_spec(retries=3, on_oom="grow"), request=Request(gpus=0, memory_bytes=8 * GB)))
    end(scene, exit_code=None, signal=9, oom="host")
    assert scene.jobs[JobId(1)].spec.request.memory_bytes == 10 * GB
    end(scene, exit_code=None, signal=9, oom="host")
    assert scene.jobs[JobId(1)].spec.request.memory_bytes == 10 * GB


@pytest.mark.parametrize(
    ("on_oom", "retry_on", "state"),
    [
        (None, ("oom",), "starting"),
        (None, ("exit",), "failed"),
        ("fail", ("oom",), "failed"),
        ("retry", ("exit",), "starting"),
        ("grow", ("exit",), "starting"),
    ],
)
def test_on_oom_decides_before_retry_on(on_oom: Any, retry_on: Any, state: str) -> None:
    scene = Scene()
    scene.submit(a_spec(retries=1, on_oom=on_oom, retry_on=retry_on))
    out_of_memory(scene)
    assert (scene.states(), scene.jobs[JobId(1)].ooms) == ([state], 1)


# By hand


def test_an_ended_job_runs_again_as_its_next_attempt() -> None:
    scene = Scene()
    scene.run(retries=1)
    for _ in range(2):
        end(scene)
    ended = scene.jobs[JobId(1)]
    scene.happen(JobsRetried(by="ann", jobs=(ended,)))
    job = scene.jobs[JobId(1)]
    assert (scene.starts(), job.attempt, job.retried) == ([(1, [0])], 3, 0)
    end(scene)
    assert scene.starts() == [(1, [0])], "its automatic retries apply again"


def test_jobs_that_depend_on_each_other_return_together() -> None:
    scene = Scene(gpus=1)
    (first,) = scene.submit(a_spec())
    scene.submit(a_spec(after=(After(job=first),)))
    end(scene)
    assert scene.states() == ["failed", "failed"]
    both = tuple(scene.jobs[JobId(number)] for number in (2, 1))
    scene.happen(JobsRetried(by="ann", jobs=both))
    assert scene.states() == ["starting", "queued"]
    scene.begin(1)
    scene.finish(1)
    assert scene.states() == ["succeeded", "starting"]


def test_a_dependent_whose_condition_is_still_unmet_fails_again() -> None:
    scene = Scene(gpus=1)
    (first,) = scene.submit(a_spec())
    scene.submit(a_spec(after=(After(job=first),)))
    end(scene)
    scene.happen(JobsRetried(by="ann", jobs=(scene.jobs[JobId(2)],), ended=((first, "fail"),)))
    assert scene.states() == ["failed", "failed"]


def test_a_retry_by_hand_ends_the_wait_between_attempts() -> None:
    scene = Scene()
    scene.submit(a_spec(retries=1, retry_delay_s=600.0))
    end(scene)
    scene.happen(JobsRetried(by="ann", waiting=(JobId(1),)))
    assert (scene.starts(), scene.jobs[JobId(1)].retried) == ([(1, [0])], 1)


def test_a_live_job_is_not_retried_a_second_time() -> None:
    scene = Scene()
    scene.run()
    scene.finish(exit_code=1)
    ended = replace(scene.jobs[JobId(1)])
    scene.happen(JobsRetried(by="ann", jobs=(ended,)))
    scene.happen(JobsRetried(by="ann", jobs=(ended,)))
    assert (scene.starts(), scene.jobs[JobId(1)].attempt) == ([], 2)
