"""Changes to waiting jobs: hold, release, move, edit, begin times and arrays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tarmac.core.events import JobEdited, JobMoved, JobsHeld, JobsLabelled, JobsReleased, TimePassed
from tarmac.core.explain.reasons import NotBefore
from tarmac.core.forecast.queue_forecast import line_up
from tarmac.core.forecast.wakeups import next_due
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Held, Queued
from tarmac.core.policy.eligibility import ArrayFull
from tests.core.support.builders import a_job, a_spec
from tests.core.support.explaining import explain
from tests.core.support.scene import Scene


def line(scene: Scene) -> list[int]:
    return [int(job) for job in line_up(scene.state, scene.now)]


def move(scene: Scene, job: int, place: int) -> None:
    scene.happen(JobMoved(job=JobId(job), place=place, by="ann"))


def a_line(*priorities: int) -> Scene:
    """Waiting jobs 1, 2, … of one owner."""
    scene = Scene(gpus=0)
    scene.submit(*(a_spec(priority=priority) for priority in priorities))
    return scene


def test_a_held_job_is_skipped_and_keeps_its_place_when_released() -> None:
    scene = Scene(gpus=1)
    scene.run()
    scene.submit(a_spec(), a_spec())
    scene.happen(JobsHeld(jobs=(JobId(2),), by="bob"))
    assert scene.status(2) == Held(by="bob", since=scene.now)
    assert line(scene) == [3]
    scene.happen(JobsReleased(jobs=(JobId(2),), by="ann"))
    assert scene.status(2) == Queued(since=scene.now)
    assert line(scene) == [2, 3]
    assert scene.story(2) == ["JobsHeld", "JobsReleased"]


def test_hold_and_release_ignore_jobs_in_other_states() -> None:
    scene = Scene(gpus=1)
    scene.run()
    scene.submit()
    before = [scene.status(1), scene.status(2)]
    scene.happen(JobsReleased(jobs=(JobId(1), JobId(2), JobId(99)), by="ann"))
    scene.happen(JobsHeld(jobs=(JobId(1), JobId(99)), by="ann"))
    assert [scene.status(1), scene.status(2)] == before


@pytest.mark.parametrize("entry", ["held", "draft"])
def test_jobs_submitted_held_or_as_drafts_start_only_when_released(entry: str) -> None:
    scene = Scene()
    scene.submit_as(a_spec(), entry=entry, by="ann")
    assert scene.states() == [entry]
    assert scene.free() == [0, 1]
    scene.happen(JobsReleased(jobs=(JobId(1),), by="ann"))
    assert scene.states() == ["starting"]


@pytest.mark.parametrize("entry", ["queued", "held", "draft"])
def test_waiting_jobs_are_cancelled_at_once(entry: str) -> None:
    scene = Scene(gpus=0)
    scene.submit_as(a_spec(), entry=entry, by="ann")
    scene.stop(1)
    assert scene.states() == ["cancelled"]
    assert scene.signals() == []


@pytest.mark.parametrize(
    ("job", "place", "order"),
    [
        (4, 1, [4, 1, 2, 3]),
        (1, 4, [2, 3, 4, 1]),
        (1, 99, [2, 3, 4, 1]),
        (4, 2, [1, 4, 2, 3]),
        (1, 3, [2, 3, 1, 4]),
        (2, 2, [1, 2, 3, 4]),
    ],
)
def test_a_moved_job_has_the_requested_place(job: int, place: int, order: list[int]) -> None:
    scene = a_line(10, 10, 10, 10)
    move(scene, job, place)
    assert line(scene) == order
    assert all(scene.jobs[JobId(number)].spec.priority == 10 for number in order)


@pytest.mark.parametrize(
    ("job", "place", "order", "priority"),
    [
        (4, 1, [4, 1, 2, 3], 5),  # before a job of better priority: it gets that priority
        (1, 4, [2, 3, 4, 1], 20),  # after a job of worse priority: it gets that priority
        (3, 2, [1, 3, 2, 4], 10),
        (1, 2, [2, 1, 3, 4], 10),
        (4, 3, [1, 2, 4, 3], 10),
        (2, 2, [1, 2, 3, 4], 10),
    ],
)
def test_a_move_changes_the_priority_only_if_needed(job: int, place: int, order: list[int], priority: int) -> None:
    scene = a_line(5, 10, 10, 20)
    move(scene, job, place)
    assert line(scene) == order
    assert scene.jobs[JobId(job)].spec.priority == priority
    assert (job in scene.state.take_changes().edited) == (priority != {1: 5, 2: 10, 3: 10, 4: 20}[job])


def test_a_job_moved_between_two_priorities_keeps_its_own() -> None:
    scene = a_line(5, 20, 10)
    move(scene, 3, 2)
    assert line(scene) == [1, 3, 2]
    assert scene.jobs[JobId(3)].spec.priority == 10


def test_jobs_can_be_moved_to_one_place_any_number_of_times() -> None:
    """After 60 halvings of a distance, floats cannot divide it further, so positions are spread."""
    scene = a_line(10, 10, 10, 10)
    order = [1, 2, 3, 4]
    for step in range(120):
        job = order[2 + step % 2]
        order.remove(job)
        order.insert(1, job)
        move(scene, job, 2)
        assert line(scene) == order


def test_a_move_leaves_other_owners_and_tiers_alone() -> None:
    scene = Scene(gpus=0, policy="fifo")
    scene.submit(a_spec(), a_spec(owner="bob"), a_spec(tier="urgent"), a_spec())
    before = {number: job.position for number, job in scene.jobs.items() if number != 4}
    move(scene, 4, 1)
    assert line(scene) == [3, 4, 1, 2]
    assert {number: job.position for number, job in scene.jobs.items() if number != 4} == before


def test_a_held_job_can_be_moved_and_keeps_the_place_when_released() -> None:
    scene = a_line(10, 10, 10)
    scene.happen(JobsHeld(jobs=(JobId(3),), by="ann"))
    move(scene, 3, 1)
    scene.happen(JobsReleased(jobs=(JobId(3),), by="ann"))
    assert line(scene) == [3, 1, 2]


def test_running_jobs_cannot_be_moved_or_edited() -> None:
    scene = Scene()
    scene.run()
    position, spec = scene.jobs[JobId(1)].position, scene.jobs[JobId(1)].spec
    move(scene, 1, 1)
    scene.happen(JobEdited(job=JobId(1), spec=replace(spec, priority=1), by="ann"))
    assert (scene.jobs[JobId(1)].position, scene.jobs[JobId(1)].spec) == (position, spec)


def test_an_edit_changes_the_request() -> None:
    scene = Scene(gpus=2)
    scene.run()
    scene.submit(gpus=2)
    scene.happen(JobEdited(job=JobId(2), spec=a_spec(gpus=1, name="smaller"), by="ann"))
    assert scene.starts() == [(2, [1])]
    assert scene.state.take_changes().edited == {2}


def test_labels_change_in_every_state() -> None:
    scene = Scene(gpus=1)
    scene.run()
    scene.submit()
    running, waiting = scene.jobs[JobId(1)], scene.jobs[JobId(2)]
    ended = replace(a_job(9), status=running.status)
    scene.state.take_changes()
    jobs = tuple(replace(job, spec=replace(job.spec, name="new")) for job in (running, waiting, ended))
    scene.happen(JobsLabelled(jobs=jobs, by="ann"))
    assert [scene.jobs[JobId(number)].spec.name for number in (1, 2)] == ["new", "new"]
    changes = scene.state.take_changes()
    assert (changes.edited, set(changes.relabelled), set(changes.changed)) == ({1, 2}, {9}, {1, 2})
    assert [line.kind for line in changes.story] == ["JobsLabelled"] * 3


def test_a_job_begins_at_its_time_and_not_before() -> None:
    scene = Scene()
    begin_at = scene.now + 100.0
    scene.submit(a_spec(begin_at=begin_at))
    assert scene.states() == ["queued"]
    assert explain(scene.state, scene.jobs[JobId(1)], scene.now) == (NotBefore(at=begin_at),)
    assert next_due(scene.state, scene.now) == begin_at
    scene.pass_s(98.0)
    assert (scene.states(), scene.now) == (["queued"], begin_at - 1.0)
    scene.pass_s(1.0)
    assert scene.states() == ["starting"]


def test_a_past_begin_time_does_not_delay_but_an_edit_to_a_later_one_does() -> None:
    scene = Scene(gpus=1)
    scene.run()
    scene.submit(a_spec(begin_at=scene.now - 5.0), a_spec(begin_at=scene.now + 50.0))
    assert line(scene) == [2]
    scene.happen(JobEdited(job=JobId(3), spec=a_spec(begin_at=scene.now + 500.0), by="ann"))
    scene.pass_s(100.0)
    assert line(scene) == [2]
    scene.pass_s(500.0)
    assert line(scene) == [2, 3]


def test_a_job_whose_time_comes_with_the_report_of_another_starts_with_it() -> None:
    """No later event would start it."""
    scene = Scene(gpus=2)
    scene.submit(a_spec(), a_spec(begin_at=scene.now + 2.0))
    scene.begin(1)
    assert scene.state_of(2) == "starting"


def test_max_running_limits_an_array_and_other_jobs_start() -> None:
    scene = Scene(gpus=4)
    jobs = scene.submit_as(*[a_spec(max_running=2)] * 4, is_group=True, indices=(1, 3, 5, 7))
    assert [scene.jobs[job].index for job in jobs] == [1, 3, 5, 7]
    assert [scene.jobs[job].group for job in jobs] == [jobs[0]] * 4
    scene.submit()
    assert scene.at_work() == [1, 2, 5]
    assert explain(scene.state, scene.jobs[JobId(3)], scene.now) == (ArrayFull(group=JobId(1), most=2),)
    scene.stop(1)
    assert scene.starts() == [], "one that is stopping still has its GPUs"
    scene.finish(1, exit_code=None, signal=15)
    assert scene.starts() == [(3, [0])]


def test_two_arrays_of_one_owner_are_limited_separately() -> None:
    scene = Scene(gpus=4)
    for _ in range(2):
        scene.submit_as(a_spec(max_running=1), a_spec(max_running=1), is_group=True)
    assert scene.at_work() == [1, 3]


def test_a_begin_time_is_ahead_again_after_the_clock_was_set_back() -> None:
    scene = Scene(gpus=1)
    scene.run()
    begin = scene.now + 10
    (job,) = scene.submit(a_spec(begin_at=begin))
    scene.now = begin
    scene.happen(TimePassed())
    assert line(scene) == [job]
    scene.now = begin - 100
    scene.happen(TimePassed())
    assert line(scene) == []
    assert explain(scene.state, scene.jobs[job], scene.now) == (NotBefore(at=begin),)
    assert next_due(scene.state, scene.now) == begin
    scene.finish(1)
    assert scene.state_of(job) == "queued"
    scene.now = begin
    scene.happen(TimePassed())
    assert scene.state_of(job) == "starting"
