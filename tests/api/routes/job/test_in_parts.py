"""Requests about very many jobs: carried out part by part, with the same answer, while others are answered."""

import asyncio
import itertools
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.datastructures import Headers

from tarmac.api.deps import Context
from tarmac.api.routes.job import in_parts, kill, label, retry
from tarmac.api.routes.job.hold import hold_jobs, release_jobs
from tarmac.api.routes.job.kill import kill_jobs, remove_jobs
from tarmac.api.routes.job.label import label_jobs
from tarmac.api.routes.job.retry import dependencies_first, retry_jobs
from tarmac.api.schemas.job.selection import KillRequest, LabelRequest, RetryRequest, Selection
from tarmac.api.wording.refusals import refusal
from tarmac.controller.controller import Controller
from tarmac.controller.requests.permissions import Caller
from tarmac.controller.requests.repeats import Key
from tarmac.controller.submit.request import MOST_TAGS
from tarmac.core.events import Event, JobsRetried, JobsSubmitted
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import After
from tarmac.core.model.status import Held, Queued, Stopping
from tarmac.refusal import Refused
from tests.controller.engine.desk import RecordingFleet, exited, run, specs, submit

ALL = ["all"]
WAITING = [2, 3, 4, 5, 6, 7, 8]  # job 1 has the GPU


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (in_parts, kill, label, retry):
        monkeypatch.setattr(module, "JOBS_AT_ONCE", 2)


def context_of(controller: Controller) -> Context:
    caller, broadcast = Caller(name="ann", uid=1000, is_admin=True), None
    more: dict[str, Any] = {"broadcast": broadcast}
    return Context(controller=controller, caller=caller, headers=Headers(), end=lambda: None, **more)


async def queued(controller: Controller) -> Context:
    for _ in range(8):
        await submit(controller, specs())
    return context_of(controller)


def decisions_of(controller: Controller) -> list[set[int]]:
    """The jobs that wait, after each commit."""
    seen: list[set[int]] = []

    def look() -> None:
        jobs = controller.state.jobs.values()
        seen.append({job.id for job in jobs if isinstance(job.status, Queued)})

    controller.engine.after_commit.append(look)
    return seen


def test_hold_and_release_in_parts_answer_for_all(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await queued(controller)
        seen = decisions_of(controller)
        held = await hold_jobs(context, Selection(ids=ALL))
        assert (held.held, held.not_waiting) == (WAITING, [1])
        assert [len(one) for one in seen] == [6, 4, 2, 0], "the first jobs of the queue first"
        assert all(isinstance(controller.state.jobs[JobId(number)].status, Held) for number in WAITING)
        again = await hold_jobs(context, Selection(ids=ALL))
        assert again.held == WAITING
        released = await release_jobs(context, Selection(ids=ALL))
        assert (released.released, released.not_held) == (WAITING, [1])
        assert all(isinstance(controller.state.jobs[JobId(number)].status, Queued) for number in WAITING)

    run(tmp_path, story)


def test_kill_in_parts_stops_running_jobs_last(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        context = await queued(controller)
        seen = decisions_of(controller)
        answer = await kill_jobs(context, KillRequest(ids=ALL))
        assert (answer.asked, answer.already_ended) == ([1, *WAITING], [])
        assert [len(one) for one in seen] == [5, 3, 1, 0]
        assert list(controller.state.jobs) == [1]
        assert isinstance(controller.state.jobs[JobId(1)].status, Stopping)

    run(tmp_path, story)


def test_others_are_answered_in_between(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await queued(controller)
        slow = asyncio.ensure_future(hold_jobs(context, Selection(ids=ALL)))
        other = await hold_jobs(context, Selection(ids=["8"]))
        assert other.held == [8]
        assert not slow.done()
        assert (await slow).held == WAITING

    run(tmp_path, story)


async def ended(controller: Controller) -> Context:
    """Job 1 runs, and the others were cancelled."""
    context = await queued(controller)
    await kill_jobs(context, KillRequest(ids=["2-8"]))
    return context


def test_rm_in_parts_removes_all(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await ended(controller)
        await submit(controller, specs())
        left: list[int] = []
        controller.engine.after_commit.append(lambda: left.append(len(controller.store.reader.jobs(range(1, 10)))))
        answer = await remove_jobs(context, Selection(ids=["2-9"]))
        assert answer.removed == [*WAITING, 9], "the waiting one is cancelled and removed"
        assert left == [9, 7, 5, 3, 1], "the waiting one is held first"
        assert list(controller.state.jobs) == [1]

    run(tmp_path, story)


def test_rm_in_parts_refuses_running_jobs_before_it_removes_one(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await ended(controller)
        with pytest.raises(Refused):
            await remove_jobs(context, Selection(ids=ALL))
        assert len(controller.store.reader.jobs(range(1, 9))) == 8

    run(tmp_path, story)


def at_commit(controller: Controller, number: int, *events: Event) -> None:
    """Let something happen between two parts."""
    commits = itertools.count(1)

    def look() -> None:
        if next(commits) == number:
            for event in events:
                controller.engine.post(event)

    controller.engine.after_commit.append(look)


def stored(controller: Controller) -> list[int]:
    return sorted(controller.store.reader.jobs(range(1, 10)))


async def submit_dependent(controller: Controller) -> None:
    """Job 9, which needs no GPU and starts as soon as job 2 has ended."""
    dependent = replace(specs(gpus=0).specs[0], after=(After(job=JobId(2), on="any"),))
    await submit(controller, JobsSubmitted(specs=(dependent,), by="ann"))


def test_no_job_that_is_to_be_killed_starts_because_another_one_ended(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        context = await queued(controller)
        await submit_dependent(controller)
        assert (await kill_jobs(context, KillRequest(ids=["2-9"]))).asked == [*WAITING, 9]
        assert fleet.jobs_in("start") == [1]
        assert list(controller.state.jobs) == [1]

    run(tmp_path, story)


@pytest.mark.parametrize("is_by_gpu", [True, False])
def test_no_job_that_is_to_be_removed_starts_between_parts(tmp_path: Path, is_by_gpu: bool) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        context = await queued(controller)
        await submit_dependent(controller)
        if is_by_gpu:  # while jobs are removed, after the four parts in which they are held
            at_commit(controller, 5, exited(1))
        answer = await remove_jobs(context, Selection(ids=["2-9"]))
        assert answer.removed == [*WAITING, 9]
        assert fleet.jobs_in("start") == [1]
        assert stored(controller) == [1]

    run(tmp_path, story)


def test_rm_that_is_refused_while_it_holds_jobs_removes_none_and_releases_them(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        context = await queued(controller)
        await hold_jobs(context, Selection(ids=["2"]))
        at_commit(controller, 1, exited(1))
        with pytest.raises(Refused) as caught:
            await remove_jobs(context, Selection(ids=["2-8"]))
        (_, started) = fleet.jobs_in("start")
        assert (caught.value.key, caught.value.values["jobs"]) == ("jobs.still_running", [started])
        assert set(WAITING) <= set(stored(controller))
        held = [job.id for job in controller.state.jobs.values() if isinstance(job.status, Held)]
        assert held == [2], "it was held before"

    run(tmp_path, story)


def test_rm_that_is_refused_between_parts_says_what_was_removed(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await ended(controller)
        again = controller.store.reader.jobs([8])[JobId(8)]
        at_commit(controller, 1, exited(1), JobsRetried(by="ann", jobs=(again,)))
        with pytest.raises(Refused) as caught:
            await remove_jobs(context, Selection(ids=["2-8"]))
        removed = caught.value.values["removed"]
        assert (caught.value.key, caught.value.values["jobs"]) == ("jobs.removed_in_part", [8])
        assert removed == [number for number in WAITING if number not in stored(controller)]
        assert removed[0] == 2
        assert "already removed" in refusal(caught.value).message

    run(tmp_path, story)


async def interrupt_after_a_part(controller: Controller, request: Coroutine[Any, Any, object]) -> None:
    """Cancel the request at the commit of its first part, which follows that of the selected jobs."""
    slow = asyncio.ensure_future(request)
    seen = decisions_of(controller)
    controller.engine.after_commit.append(lambda: len(seen) == 2 and slow.cancel())
    await asyncio.wait([slow])
    assert slow.cancelled()
    await controller.engine.commit()  # behind what it had begun


@pytest.mark.parametrize(("words", "left"), [(["2-6", "7", "3"], {1, 8, 9}), (["3-6", "last"], {1, 2, 7, 9})])
def test_a_removal_that_was_interrupted_can_be_repeated(tmp_path: Path, words: list[str], left: set[int]) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = replace(await ended(controller), key=Key("ann", "rm"))
        await interrupt_after_a_part(controller, remove_jobs(context, Selection(ids=words)))
        assert len(left) - 1 < len(controller.store.reader.jobs(range(1, 9))) < 8
        await submit(controller, specs())  # another job is the last one now
        answer = await remove_jobs(context, Selection(ids=words))
        assert set(answer.removed) == set(range(1, 10)) - left, "it also lists what was removed before"
        assert controller.store.reader.jobs(range(1, 10)).keys() == left

    run(tmp_path, story)


def test_a_repeated_retry_leaves_out_jobs_that_ended_again(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = replace(await ended(controller), key=Key("ann", "retry"))
        body = RetryRequest(ids=["2-8"])
        await interrupt_after_a_part(controller, retry_jobs(context, body))
        again = [number for number in WAITING if JobId(number) in controller.state.jobs]
        assert again[:2] == [2, 3]
        assert len(again) < len(WAITING)
        await kill_jobs(replace(context, key=None), KillRequest(ids=[str(number) for number in again]))
        answer = await retry_jobs(context, body)
        assert answer.retried == WAITING
        assert sorted(controller.state.jobs) == [1, *(number for number in WAITING if number not in again)]

    run(tmp_path, story)


@pytest.mark.parametrize("verb", ["hold", "release", "label", "kill"])
def test_a_repetition_does_not_change_jobs_that_are_done_again(tmp_path: Path, verb: str) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = replace(await queued(controller), key=Key("ann", verb))
        other = replace(context, key=None)
        done = 8 if verb == "kill" else 2  # of the first part
        if verb == "release":
            await hold_jobs(other, Selection(ids=ALL))

        async def ask() -> Any:
            match verb:
                case "hold":
                    return (await hold_jobs(context, Selection(ids=["2-8"]))).held
                case "release":
                    return (await release_jobs(context, Selection(ids=["2-8"]))).released
                case "label":
                    return (await label_jobs(context, LabelRequest(ids=["2-8"], set_name="new"))).labelled
            return (await kill_jobs(context, KillRequest(ids=["2-8"]))).asked

        await interrupt_after_a_part(controller, ask())
        undo: dict[str, Any] = {
            "hold": lambda: release_jobs(other, Selection(ids=[str(done)])),
            "release": lambda: hold_jobs(other, Selection(ids=[str(done)])),
            "label": lambda: label_jobs(other, LabelRequest(ids=[str(done)], set_name="other")),
            "kill": lambda: retry_jobs(other, RetryRequest(ids=[str(done)])),
        }
        await undo[verb]()
        before = controller.state.jobs[JobId(done)]
        status, name = before.status, before.spec.name
        assert await ask() == WAITING
        after = controller.state.jobs[JobId(done)]
        assert (after.status, after.spec.name) == (status, name)

    run(tmp_path, story)


def test_retry_in_parts_queues_dependents_last(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await queued(controller)
        waiting = replace(specs().specs[0], after=(After(job=JobId(8)),))
        await submit(controller, JobsSubmitted(specs=(waiting,), by="ann"))
        await kill_jobs(context, KillRequest(ids=["2-9"]))
        answer = await retry_jobs(context, RetryRequest(ids=["9", "1-8"]))
        assert answer.retried == [*WAITING, 9]
        assert [one.id for one in answer.not_retried] == [1], "it runs"
        assert all(isinstance(controller.state.jobs[JobId(number)].status, Queued) for number in (*WAITING, 9))

    run(tmp_path, story)


def test_dependents_are_retried_in_parts(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await queued(controller)
        for number in range(8, 14):
            waiting = replace(specs().specs[0], after=(After(job=JobId(number)),))
            await submit(controller, JobsSubmitted(specs=(waiting,), by="ann"))
        await kill_jobs(context, KillRequest(ids=["2-14"]))
        seen = decisions_of(controller)
        assert (await retry_jobs(context, RetryRequest(ids=["2-14"]))).retried == list(range(2, 15))
        assert [len(one) for one in seen] == [2, 4, 6, 8, 10, 12, 13]

    run(tmp_path, story)


def test_dependents_come_after_newer_jobs_that_they_depend_on(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await ended(controller)
        after = {4: 7, 5: 4, 7: 2}  # an edit may have named a newer job
        found = controller.store.reader.jobs(after)
        jobs = [
            replace(found[JobId(job)], spec=replace(found[JobId(job)].spec, after=(After(job=JobId(other)),)))
            for job, other in after.items()
        ]
        assert dependencies_first(jobs) == [7, 4, 5]

    run(tmp_path, story)


def test_labels_in_parts_are_checked_before_one_is_changed(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await ended(controller)
        seen = decisions_of(controller)
        tags = [f"tag{number}" for number in range(MOST_TAGS)]
        assert (await label_jobs(context, LabelRequest(ids=["8"], add_tags=tags))).labelled == [8]
        with pytest.raises(Refused):
            await label_jobs(context, LabelRequest(ids=ALL, add_tags=["new"]))
        assert len(seen) == 1, "no job was changed"
        answer = await label_jobs(context, LabelRequest(ids=["1-7"], add_tags=["new"], set_name="a"))
        assert (answer.labelled, len(seen)) == ([1, *WAITING[:-1]], 5)
        stored = controller.store.reader.jobs(range(1, 9)).values()
        assert [(job.spec.name, job.spec.tags) for job in stored][:-1] == [("a", ("new",))] * 7

    run(tmp_path, story)


def test_retry_in_parts_is_refused_before_one_is_retried(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await ended(controller)
        await controller.change_setting("max_queued", lambda _: "6")
        with pytest.raises(Refused):
            await retry_jobs(context, RetryRequest(ids=["2-8"]))
        assert list(controller.state.jobs) == [1]

    run(tmp_path, story)


@pytest.mark.parametrize("verb", ["hold", "release", "retry", "rm"])
def test_the_answer_is_repeated_even_if_the_last_part_had_nothing_to_do(tmp_path: Path, verb: str) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        context = await (queued if verb in {"hold", "release"} else ended)(controller)
        await (hold_jobs if verb == "release" else release_jobs)(context, Selection(ids=["2-6"]))
        await kill_jobs(context, KillRequest(ids=["7-8"]))
        again = replace(context, key=Key("ann", verb))
        calls: dict[str, Any] = {"hold": hold_jobs, "release": release_jobs, "retry": retry_jobs, "rm": remove_jobs}
        ids = ["1-8"] if verb != "rm" else ["2-8"]
        answer = await calls[verb](again, RetryRequest(ids=ids) if verb == "retry" else Selection(ids=ids))
        assert msgspec.json.encode(answer) == controller.repeats.kept(again.key)

    run(tmp_path, story)
