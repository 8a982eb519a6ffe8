"""Committed data is unchanged after closing and reopening the file."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tarmac.core.events import JobsSubmitted
from tarmac.core.model.gpu import NamedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import After, Request
from tarmac.core.model.status import is_ended
from tarmac.store.batch import Submission
from tarmac.store.environments.environments import pack_environment
from tarmac.store.store import Store
from tests.core.support.builders import a_booking, a_job, a_spec, a_status
from tests.store.kept import a_line, changed, commit, happen, new, opened, removed
from tests.store.write_schema import STATUSES


@pytest.mark.parametrize("name", STATUSES)
def test_a_job_in_any_state_comes_back_as_it_was(path: Path, name: str) -> None:
    queued, job = a_job(1), a_job(1, status=a_status(name, a_booking(0, 3)))
    with opened(path) as store:
        commit(store, new(queued))
        commit(store, changed(job))
    with opened(path) as store:
        assert store.reader.job(1) == job
        assert store.reader.jobs([1]) == {1: job}
        assert store.load().jobs == ({} if is_ended(job.status) else {1: job})


@pytest.mark.parametrize("name", STATUSES)
def test_a_job_that_is_new_and_changed_at_once_is_written_once(store: Store, name: str) -> None:
    job = a_job(1, status=a_status(name))
    batch = new(job)
    batch.changes.changed[job.id] = job
    commit(store, batch)
    assert store.reader.job(1) == job


@pytest.mark.parametrize(
    ("options", "request_options"),
    [
        ({}, {}),
        ({"name": "", "retry_delay_s": 0.0, "max_running": 0, "note": ""}, {"gpus": 0, "gpu_share": 0.0}),
        ({"tags": ("a",), "append": True, "nice": 3, "after": (After(job=JobId(9)),)}, {"cpus": 2, "gpus": 3}),
        ({"priority": 3, "grace_s": 0.0, "signal": 2, "tier": "preemptible", "retry_on": ()}, {}),
    ],
)
def test_a_job_of_an_array_comes_back_with_its_options(
    path: Path, options: dict[str, Any], request_options: dict[str, Any]
) -> None:
    spec = replace(a_spec(), request=Request(**request_options), **options)
    job, other = (replace(a_job(number), spec=spec, group=JobId(1), index=number) for number in (1, 2))
    with opened(path) as store:
        commit(store, new(job, other))
    with opened(path) as store:
        assert store.reader.jobs([1, 2]) == {1: job, 2: other}
        assert store.load().jobs == {1: job, 2: other}
        stored = set(
            store.reader._connection.execute("SELECT key FROM jobs, json_each(spec) WHERE jobs.id = 1").fetchall()
        )
    assert {("priority",), ("grace_s",), ("signal",), ("tier",), ("retry_on",)} <= stored, "a default may change"


def test_pinned_gpus_are_restored_including_old_indices(path: Path) -> None:
    named = Request(gpus_on=(NamedGpu(uuid=GpuUuid("GPU-a"), index=3),), exclude_gpus=(2,))
    with opened(path) as store:
        commit(store, new(replace(a_job(1), spec=replace(a_spec(), request=named)), a_job(2)))
    with sqlite3.connect(path) as old:
        old.execute("""UPDATE jobs SET spec = json_set(spec, '$.request.gpus_on', json('[0, 2]')) WHERE id = 2""")
    old.close()
    with opened(path) as store:
        first, second = (job.spec.request for job in store.load().jobs.values())
    assert first == named
    assert first.gpus_on[0].index == 3  # type: ignore[union-attr]
    assert second.gpus_on == (0, 2)


def test_every_option_is_restored(store: Store) -> None:
    spec = a_spec(
        gpus=8,
        command=None,
        shell='echo "it\'s" && \n printf "%s" \U0001f680',
        name="quotes ' \" newline \n emoji \U0001f680",
        project="p",
        tags=("a", "b c"),
        priority=-3,
        stdout="/tmp/out",
        stderr="/tmp/err",
        append=True,
        grace_s=0.5,
    )
    happen(store, JobsSubmitted(specs=(spec, a_spec(command=("x" * 100_000,)))), now=123.25)
    kept = store.reader.jobs([1, 2])
    assert kept[1].spec == spec
    assert kept[1].submitted_at == 123.25
    assert kept[2].spec.command == ("x" * 100_000,)


def test_the_loaded_state_equals_that_of_the_core(path: Path) -> None:
    jobs = [a_job(1, gpus=2, status=a_status("running", a_booking(0, 1))), a_job(2, priority=20), a_job(3)]
    with opened(path) as store:
        commit(store, new(*jobs))
    with opened(path) as store:
        state = store.load()
    assert list(state.queue.in_order()) == [3, 2]
    booked = state.nodes["box"].booked  # type: ignore[index]
    assert {uuid: list(held) for uuid, held in booked.items()} == {"box-0": [1], "box-1": [1]}
    assert state.next_id == 4
    assert not state.changes


# Its story


def test_each_job_has_its_own_story_in_order(store: Store) -> None:
    commit(store, new(a_job(1), a_job(2)))
    commit(
        store, changed(story=(a_line(1, "Decided", gpus=[0]), a_line(2, "StopAsked"), a_line(1, "JobStarted", pid=7)))
    )
    told = [(event.kind, event.attempt, event.detail) for event in store.reader.story(1)]
    assert told == [("JobSubmitted", 0, {}), ("Decided", 1, {"gpus": [0]}), ("JobStarted", 1, {"pid": 7})]
    assert [event.kind for event in store.reader.story(2)] == ["JobSubmitted", "StopAsked"]


def test_changed_jobs_are_listed_once_each_oldest_first(store: Store) -> None:
    commit(store, new(a_job(1), a_job(2), a_job(3)))
    seen = store.reader.last_event()
    commit(store, changed(story=(a_line(3, "Decided"), a_line(1, "Decided"), a_line(3, "JobStarted"))))
    assert [job for _, job in store.reader.jobs_changed_after(seen, 10)] == [1, 3]
    newest, _ = store.reader.jobs_changed_after(seen, 10)[-1]
    assert newest == store.reader.last_event()
    assert len(store.reader.jobs_changed_after(0, 2)) == 2
    assert store.reader.jobs_changed_after(newest, 10) == []


def test_event_ids_continue_after_the_newest_was_removed(path: Path) -> None:
    with opened(path) as store:
        assert store.reader.last_event() == 0
        commit(store, new(a_job(1), a_job(2)))
        commit(store, removed(2))
    with opened(path) as store:
        before = store.reader.last_event()
        commit(store, new(a_job(3)))
        assert store.reader.story(3)[0].id == before + 1


# Environments


def test_equal_environments_are_stored_once(store: Store, path: Path) -> None:
    variables = {"PATH": "/bin", "LANG": "C", "NEWLINES": "a\nb", "SNOW": "☃"}
    digest, body = pack_environment(variables)
    for number in (1, 2, 3):
        commit(store, new(a_job(number), environments={digest: body}))
    assert store.reader.environment(digest) == variables
    with sqlite3.connect(path) as looking:
        assert looking.execute("SELECT count(*) FROM environments").fetchone() == (1,)
    looking.close()


def test_the_order_of_variables_does_not_affect_the_hash() -> None:
    assert pack_environment({"A": "1", "B": "2"}) == pack_environment({"B": "2", "A": "1"})
    assert pack_environment({"A": "1"})[0] != pack_environment({"A": "2"})[0]
    assert pack_environment({"A": "1B=2"})[0] != pack_environment({"A": "1", "B": "2"})[0]


# Submits


def test_a_token_finds_its_jobs_for_its_owner_only(path: Path) -> None:
    kept = Submission(owner="ann", token="t", first_id=1, count=3, at=1.0)
    with opened(path) as store:
        commit(store, new(a_job(1), a_job(2), a_job(3), submissions=[kept]))
    with opened(path) as store:
        assert store.reader.submission("ann", "t") == range(1, 4)
        assert store.reader.submission("bob", "t") is None
        assert store.reader.submission("ann", "u") is None


# All or nothing


def test_a_batch_is_stored_as_a_whole_or_not_at_all(store: Store) -> None:
    commit(store, new(a_job(1)))
    digest, body = pack_environment({"A": "1"})
    token = Submission(owner="ann", token="t", first_id=2, count=1, at=1.0)
    batch = new(a_job(2), a_job(1), environments={digest: body}, submissions=[token])  # job 1 already exists
    batch.changes.story.append(a_line(1, "Decided"))
    with pytest.raises(sqlite3.IntegrityError):
        commit(store, batch)
    assert store.reader.job(2) is None
    assert [event.kind for event in store.reader.story(1)] == ["JobSubmitted"]
    assert store.reader.submission("ann", "t") is None
    commit(store, new(a_job(2)))
    assert store.load().next_id == 3, "the failed commit used up no id"


def test_commits_are_stored_in_order(store: Store) -> None:
    heard: list[int] = []
    store.commit(new(a_job(1)), lambda _: heard.append(1))
    for number in range(2, 30):
        store.commit(changed(a_job(1, position=number)), partial(_hear, heard, number))
    commit(store, changed(a_job(1, position=30)))
    assert heard == list(range(1, 30))
    kept = store.reader.job(1)
    assert kept is not None
    assert kept.position == 30


def _hear(heard: list[int], number: int, _: Exception | None) -> None:
    heard.append(number)


def test_closing_waits_for_pending_commits(path: Path) -> None:
    with opened(path) as store:
        for number in range(1, 50):
            store.commit(new(a_job(number)), lambda _: None)
    with opened(path) as store:
        assert len(store.load().jobs) == 49


# Removal


def test_a_removed_job_leaves_nothing_and_its_id_is_never_reused(path: Path) -> None:
    with opened(path) as store:
        commit(store, new(a_job(1), a_job(2), a_job(3)))
        commit(store, changed(replace(a_job(3), status=a_status("cancelled"))))
        commit(store, removed(3))
        assert store.reader.job(3) is None
        assert store.reader.story(3) == []
    with opened(path) as store:
        assert store.load().next_id == 4
        commit(store, removed(1, 2))
    with opened(path) as store:
        assert store.load().next_id == 4, "not even when all are gone"
        happen(store, JobsSubmitted(specs=(a_spec(),)))
        assert list(store.load().jobs) == [JobId(4)]


def test_ids_in_a_new_file_begin_with_1(store: Store) -> None:
    state = store.load()
    assert state.next_id == 1
    assert state.jobs == {}
