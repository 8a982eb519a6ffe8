"""Each limit holds exactly, at submit and at start, and reports its name, use and request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.core.events import GpusSeen, JobsHeld, ProcessAdopted
from tarmac.core.ledger import HOUR_S
from tarmac.core.limits import LimitReached, refusal_at_submit
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import Request
from tarmac.core.model.rules import PerName
from tarmac.core.policy.eligibility import ArrayFull
from tests.core.support.builders import BOX, a_spec, numbered_gpus
from tests.core.support.explaining import explain
from tests.core.support.scene import Scene

GIB = 2**30


def reached(limit: str, most: float, used: float, asked: float, name: str | None = None) -> LimitReached:
    return LimitReached(limit=limit, name=name, most=most, used=used, asked=asked)


def why(scene: Scene, job: int) -> tuple[Any, ...]:
    return explain(scene.state, scene.jobs[JobId(job)], scene.now)


def waiting(scene: Scene, *, ann: int, bob: int = 0, project: str | None = None) -> Scene:
    specs = [a_spec(project=project)] * ann + [a_spec(owner="bob", project=project)] * bob
    scene.submit(*specs)
    return scene


def test_too_wide_a_job_is_refused_at_submit() -> None:
    scene = Scene(max_gpus_per_job=2)
    assert refusal_at_submit(scene.state, [a_spec(gpus=1), a_spec(gpus=2), a_spec(gpus=0)]) is None
    assert refusal_at_submit(scene.state, [a_spec(), a_spec(gpus=3)]) == reached("max_gpus_per_job", 2, 0, 3)


def test_too_many_waiting_jobs_are_refused_at_submit() -> None:
    scene = waiting(Scene(gpus=0, max_queued=4), ann=2, bob=1)
    assert refusal_at_submit(scene.state, [a_spec()]) is None
    assert refusal_at_submit(scene.state, [a_spec()] * 2) == reached("max_queued", 4, 3, 2)


def test_held_jobs_count_as_waiting_but_drafts_and_running_jobs_do_not() -> None:
    scene = Scene(gpus=1, max_queued=2)
    scene.run()
    scene.submit()
    scene.happen(JobsHeld(jobs=(JobId(2),), by="ann"))
    scene.submit_as(a_spec(), entry="draft")
    assert refusal_at_submit(scene.state, [a_spec()]) is None
    assert refusal_at_submit(scene.state, [a_spec()] * 2) == reached("max_queued", 2, 1, 2)


def test_waiting_jobs_are_limited_per_user_with_exceptions() -> None:
    scene = Scene(gpus=0, max_queued_per_user=PerName(2.0, (("bob", 3.0), ("root", 0.0))))
    waiting(scene, ann=1, bob=2)
    assert refusal_at_submit(scene.state, [a_spec(), a_spec(owner="bob")]) is None
    assert refusal_at_submit(scene.state, [a_spec()] * 2) == reached("max_queued_per_user", 2, 1, 2, "ann")
    assert refusal_at_submit(scene.state, [a_spec(owner="bob")] * 2) == reached("max_queued_per_user", 3, 2, 2, "bob")
    assert refusal_at_submit(scene.state, [a_spec(owner="root")] * 99) is None


def test_waiting_jobs_are_limited_per_project() -> None:
    scene = waiting(Scene(gpus=0, max_queued_per_project=PerName(0.0, (("p", 3.0),))), ann=1, bob=1, project="p")
    assert refusal_at_submit(scene.state, [a_spec(project="p")]) is None
    assert refusal_at_submit(scene.state, [a_spec(project="q")] * 9 + [a_spec()] * 9) is None
    refused = refusal_at_submit(scene.state, [a_spec(project="p")] * 2)
    assert refused == reached("max_queued_per_project", 3, 2, 2, "p")


def test_max_gpus_per_user_limits_one_user_and_others_start() -> None:
    scene = Scene(gpus=6, max_gpus_per_user=PerName(2.0))
    scene.run(a_spec(), a_spec(), a_spec(), a_spec(owner="bob"))
    assert scene.at_work() == [1, 2, 4]
    assert why(scene, 3) == (reached("max_gpus_per_user", 2, 2, 1, "ann"),)
    scene.finish(2)
    assert [job for job, _ in scene.starts()] == [3]


def test_every_reached_limit_is_reported_at_once() -> None:
    scene = Scene(gpus=6, max_gpus_per_user=PerName(2.0), max_gpus_per_project=PerName(2.0))
    scene.submit_as(*[a_spec(project="p", max_running=2)] * 3, is_group=True)
    assert why(scene, 3) == (
        ArrayFull(group=JobId(1), most=2),
        reached("max_gpus_per_user", 2, 2, 1, "ann"),
        reached("max_gpus_per_project", 2, 2, 1, "p"),
    )


def test_every_limit_is_reported_when_the_part_depends_on_the_gpu() -> None:
    half = replace(a_spec(project="p"), request=Request(gpu_memory_bytes=GIB))
    scene = Scene(gpus=0, max_gpus_per_user=PerName(0.6), max_gpus_per_project=PerName(0.7), keep_gpu_memory=0.0)
    scene.happen(GpusSeen(node=BOX, gpus=tuple(replace(gpu, memory_total_bytes=2 * GIB) for gpu in numbered_gpus(2))))
    scene.run(half, half)
    assert scene.at_work() == [1]
    assert [one.limit for one in why(scene, 2)] == ["max_gpus_per_user", "max_gpus_per_project"]


def test_a_narrower_job_still_starts_within_the_limit() -> None:
    scene = Scene(gpus=6, max_gpus_per_user=PerName(3.0))
    scene.run(a_spec(gpus=2), a_spec(gpus=2), a_spec())
    assert scene.at_work() == [1, 3]
    assert why(scene, 2) == (reached("max_gpus_per_user", 3, 3, 2, "ann"),)


def test_limits_have_exceptions_by_name() -> None:
    limit = PerName(1.0, (("bob", 2.0), ("root", 0.0)))
    scene = Scene(gpus=8, max_gpus_per_user=limit)
    for owner in ("ann", "bob", "root"):
        scene.run(*[a_spec(owner=owner)] * 3)
    assert scene.at_work() == [1, 4, 5, 7, 8, 9]


def test_max_gpus_per_project_counts_all_its_users() -> None:
    scene = Scene(gpus=6, max_gpus_per_project=PerName(2.0))
    scene.run(a_spec(project="p"), a_spec(owner="bob", project="p"), a_spec(project="p"), a_spec(project="q"), a_spec())
    assert scene.at_work() == [1, 2, 4, 5]
    assert why(scene, 3) == (reached("max_gpus_per_project", 2, 2, 1, "p"),)


def test_parts_of_gpus_count_as_fractions() -> None:
    scene = Scene(gpus=2, max_gpus_per_user=PerName(1.0))
    half = replace(a_spec(), request=Request(gpu_share=0.5))
    scene.run(half, half, half)
    assert scene.at_work() == [1, 2]
    assert why(scene, 3) == (reached("max_gpus_per_user", 1, 1, 0.5, "ann"),)


def test_gpu_limits_do_not_apply_to_jobs_without_gpus() -> None:
    scene = Scene(gpus=2, max_gpus_per_user=PerName(1.0), max_gpus_per_job=1, gpu_hours_per_user=PerName(1e-9))
    scene.state.load_hours([(0, "ann", "", 9e9)], scene.now)
    scene.run(a_spec(), a_spec(gpus=0))
    assert scene.at_work() == [2]


def test_the_width_limit_is_checked_again_at_the_start() -> None:
    scene = Scene(gpus=0)
    scene.submit(gpus=3)
    scene.set_rules(max_gpus_per_job=2)
    scene.see_gpus(4)
    assert scene.at_work() == []
    assert why(scene, 1) == (reached("max_gpus_per_job", 2, 0, 3),)
    scene.set_rules(max_gpus_per_job=0)
    assert scene.at_work() == [1]


def test_a_lowered_limit_stops_no_job_and_delays_new_ones() -> None:
    scene = Scene(gpus=4)
    scene.run(*[a_spec()] * 3)
    scene.set_rules(max_gpus_per_user=PerName(2.0))
    assert scene.signals() == []
    scene.submit()
    assert why(scene, 4) == (reached("max_gpus_per_user", 2, 3, 1, "ann"),)
    scene.finish(1)
    assert scene.starts() == []
    scene.finish(2)
    assert [job for job, _ in scene.starts()] == [4]


def test_stopping_jobs_count_until_they_have_ended() -> None:
    scene = Scene(gpus=2, max_gpus_per_user=PerName(1.0))
    scene.run()
    scene.submit()
    scene.stop(1)
    assert scene.starts() == []
    scene.finish(1, exit_code=None, signal=15)
    assert [job for job, _ in scene.starts()] == [2]


def test_adopted_processes_count_towards_limits() -> None:
    scene = Scene(gpus=2, max_gpus_per_user=PerName(1.0))
    scene.happen(ProcessAdopted(spec=a_spec(), node=BOX, pid=7, gpus=(GpuUuid("box-0"),)))
    scene.submit()
    assert scene.at_work() == [1]


@pytest.mark.parametrize("limit", ["gpu_hours_per_user", "gpu_hours_per_project"])
def test_gpu_hours_per_week_are_limited(limit: str) -> None:
    """3 hours with 2 GPUs are 6; an hour is available again when the oldest is more than a week old."""
    scene = Scene(gpus=2, **{limit: PerName(0.0, (("ann", 6.0), ("p", 6.0)))})
    scene.now = 1000.0 * HOUR_S - 1.0
    scene.run(a_spec(gpus=2, project="p"), a_spec(project="p"))
    scene.pass_s(3.0 * HOUR_S)
    scene.finish(1)
    assert scene.starts() == []
    name = "ann" if limit == "gpu_hours_per_user" else "p"
    (reason,) = why(scene, 2)
    assert isinstance(reason, LimitReached)
    assert (reason.limit, reason.name, reason.most, reason.asked) == (limit, name, 6.0, 0)
    assert reason.used == pytest.approx(6.0, abs=0.01)
    scene.pass_s(164.0 * HOUR_S)
    assert scene.starts() == []
    scene.pass_s(2.0 * HOUR_S)
    assert [job for job, _ in scene.starts()] == [2]


def test_a_job_that_starts_below_the_weekly_limit_may_exceed_it() -> None:
    scene = Scene(gpus=2, gpu_hours_per_user=PerName(1.0))
    scene.run()
    scene.pass_s(5.0 * HOUR_S)
    assert scene.state_of(1) == "running"
    scene.submit()
    assert scene.at_work() == [1]
