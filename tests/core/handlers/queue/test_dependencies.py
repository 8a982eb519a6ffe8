"""Dependencies: what releases waiting jobs, what ends them, and circles."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core import state as state_module
from tarmac.core.events import JobEdited, JobsHeld, JobsReleased, StartForced
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import After, JobSpec
from tarmac.core.model.note import note
from tarmac.core.model.status import Failed
from tests.core.support.builders import BOX, a_spec, lost
from tests.core.support.scene import Scene

ENDS: dict[str, dict[str, Any]] = {"well": {"exit_code": 0}, "badly": {"exit_code": 3}}


def after(job: int, on: str = "ok") -> JobSpec:
    return a_spec(after=(After(job=JobId(job), on=on),))


def end(scene: Scene, job: int, how: str) -> None:
    if how == "cancelled":
        scene.stop(job)
        scene.finish(job, exit_code=None, signal=15)
    elif how == "unknown":
        scene.report(lost(job))
    else:
        scene.finish(job, **ENDS[how])


@pytest.mark.parametrize(
    ("on", "how", "state"),
    [
        ("ok", "well", "starting"),
        ("ok", "badly", "failed"),
        ("ok", "cancelled", "failed"),
        ("ok", "unknown", "failed"),
        ("any", "well", "starting"),
        ("any", "badly", "starting"),
        ("any", "cancelled", "starting"),
        ("any", "unknown", "starting"),
        ("fail", "well", "failed"),
        ("fail", "badly", "starting"),
        ("fail", "cancelled", "starting"),
        ("fail", "unknown", "starting"),
    ],
)
def test_a_dependent_starts_or_ends_by_the_outcome_of_its_dependency(on: str, how: str, state: str) -> None:
    scene = Scene(gpus=2)
    scene.run()
    scene.submit(after(1, on))
    assert scene.state_of(2) == "queued", "there is a GPU, and it waits all the same"
    end(scene, 1, how)
    assert scene.state_of(2) == state
    if state == "failed":
        status = scene.status(2)
        assert isinstance(status, Failed)
        assert (status.reason, status.ended_at, status.booking) == ("dependency", scene.now, None)
        outcome = "ok" if how == "well" else "fail"
        assert status.message == note("dependency.unmet", job=1, outcome=outcome, on=on)
        assert scene.story(2)[-1] == "DependencyFailed"


def test_a_job_with_several_dependencies_starts_when_the_last_has_ended() -> None:
    scene = Scene(gpus=3)
    scene.run(a_spec(), a_spec())
    scene.submit(a_spec(after=(After(job=JobId(1)), After(job=JobId(2), on="any"))))
    scene.finish(2, exit_code=1)
    assert scene.state_of(3) == "queued"
    scene.finish(1)
    assert scene.state_of(3) == "starting"


@pytest.mark.parametrize(
    ("on", "outcome", "state"),
    [("ok", "ok", "starting"), ("ok", "fail", "failed"), ("fail", "fail", "starting"), ("fail", "ok", "failed"),
     ("any", "fail", "starting")],
)  # fmt: skip
def test_the_submit_brings_the_outcomes_of_jobs_that_have_left_the_state(on: str, outcome: str, state: str) -> None:
    scene = Scene()
    scene.state.next_id = 50
    scene.submit_as(after(7, on), ended=((JobId(7), outcome),))
    assert scene.state_of(50) == state


def test_a_recent_outcome_counts_even_if_the_submit_lacks_it() -> None:
    scene = Scene()
    scene.run()
    scene.finish(1, exit_code=2)
    scene.submit_as(after(1), ended=())
    assert scene.state_of(2) == "failed"


def test_a_failure_ends_the_whole_chain_of_dependents_in_one_event() -> None:
    scene = Scene()
    scene.run()
    scene.submit(after(1), after(2), after(3, "fail"))
    scene.finish(1, exit_code=1)
    assert scene.states() == ["failed", "failed", "failed", "starting"]


def test_cancelling_a_waiting_job_ends_its_dependents() -> None:
    scene = Scene(gpus=0)
    scene.submit(a_spec(), after(1), after(2, "any"))
    scene.stop(1)
    assert scene.states() == ["cancelled", "failed", "queued"]


def test_held_and_draft_dependents_end_too_and_a_met_dependency_leaves_a_job_held() -> None:
    scene = Scene(gpus=4)
    scene.run(a_spec(), a_spec())
    scene.submit(after(1), after(2))
    scene.happen(JobsHeld(jobs=(JobId(3), JobId(4)), by="ann"))
    scene.submit_as(after(1), entry="draft")
    scene.finish(1, exit_code=1)
    scene.finish(2)
    assert [scene.state_of(job) for job in (3, 4, 5)] == ["failed", "held", "failed"]
    scene.happen(JobsReleased(jobs=(JobId(4),), by="ann"))
    assert scene.state_of(4) == "starting"


def test_jobs_of_a_submit_may_depend_on_each_other() -> None:
    scene = Scene(gpus=2)
    scene.run()
    first, second = scene.submit(a_spec(), a_spec(after=(After(job=JobId(-1)),)))
    assert [one.job for one in scene.jobs[second].spec.after] == [first]
    assert [scene.state_of(job) for job in (first, second)] == ["starting", "queued"]
    scene.finish(first)
    assert scene.state_of(second) == "starting"


def test_a_job_that_fails_at_submit_releases_dependents_that_wait_for_its_failure() -> None:
    scene = Scene(gpus=2)
    scene.state.next_id = 50
    on_failure = a_spec(after=(After(job=JobId(-1), on="fail"),))
    on_success = a_spec(after=(After(job=JobId(-1)),))
    scene.submit_as(after(7), on_failure, on_success, ended=((JobId(7), "fail"),))
    assert [scene.state_of(job) for job in (50, 51, 52)] == ["failed", "starting", "failed"]


def test_many_jobs_that_end_together_each_get_the_right_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "MAX_OUTCOMES", 3)
    scene = Scene(gpus=1)
    scene.run()
    middle = scene.submit(*[after(1)] * 8)
    scene.submit(*[after(number, "fail") for number in middle])
    scene.finish(1, exit_code=1)
    assert scene.states() == ["failed"] * 9 + ["starting"] + ["queued"] * 7
    assert len(scene.state.outcomes) == 3


def test_an_edit_replaces_the_dependencies() -> None:
    scene = Scene(gpus=3)
    scene.run(a_spec(), a_spec())
    scene.submit(after(1))
    scene.happen(JobEdited(job=JobId(3), spec=after(2), by="ann"))
    scene.finish(1, exit_code=1)
    assert scene.state_of(3) == "queued"
    assert scene.state.take_changes().edited == {3}
    scene.happen(JobEdited(job=JobId(3), spec=a_spec(), by="ann"))
    assert scene.state_of(3) == "starting"


def test_a_forced_job_does_not_end_when_its_dependency_fails() -> None:
    scene = Scene(gpus=2)
    scene.run()
    scene.submit(after(1))
    scene.happen(StartForced(job=JobId(2), node=BOX, gpus=(GpuUuid("box-1"),), by="ann"))
    scene.begin()
    scene.finish(1, exit_code=1)
    assert scene.states() == ["failed", "running"]
