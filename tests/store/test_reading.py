"""Queries for jobs, and their pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.core.model.job import Job
from tarmac.store.reader import JobFilter, _conditions
from tarmac.store.store import Store
from tests.core.support.builders import a_job, a_status
from tests.store.kept import commit, new


def a_named_job(number: int, **spec: Any) -> Job:
    job = a_job(number)
    return replace(job, spec=replace(job.spec, **spec))


@pytest.fixture
def shelf(store: Store) -> Store:
    commit(
        store,
        new(
            a_named_job(1, name="train-a", tags=("big",)),
            a_named_job(2, name="train-b", owner="bob"),
            a_named_job(3, name=None, tags=("big", "night shift")),
            a_job(4, status=a_status("running")),
            a_job(5, status=a_status("succeeded")),
            a_job(6, status=a_status("unknown")),
            a_job(7, status=a_status("unknown-ended")),
            a_job(8, owner="bob", status=a_status("failed")),
        ),
    )
    return store


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (JobFilter(), [1, 2, 3, 4, 5, 6, 7, 8]),
        (JobFilter(ids=(range(2, 4), range(7, 8))), [2, 3, 7]),
        (JobFilter(ids=(range(3, 5), range(4, 6), range(1, 2))), [1, 3, 4, 5]),
        (JobFilter(ids=()), []),
        (JobFilter(ids=(range(3, 3),)), []),
        (JobFilter(ids=(range(90, 99),)), []),
        (JobFilter(states=("queued",)), [1, 2, 3]),
        (JobFilter(states=("running", "failed")), [4, 8]),
        (JobFilter(states=("unknown",)), [6, 7]),
        (JobFilter(is_live=True), [1, 2, 3, 4, 6]),
        (JobFilter(is_live=False), [5, 7, 8]),
        (JobFilter(owner="bob"), [2, 8]),
        (JobFilter(owner="nobody"), []),
        (JobFilter(name="train-*"), [1, 2]),
        (JobFilter(name="train-?"), [1, 2]),
        (JobFilter(name="train-[b]"), [2]),
        (JobFilter(name="rain"), []),
        (JobFilter(tag="big"), [1, 3]),
        (JobFilter(tag="night shift"), [3]),
        (JobFilter(tag="bi"), []),
        (JobFilter(owner="bob", is_live=True, name="train*"), [2]),
        (JobFilter(tag="big", ids=(range(2, 9),)), [3]),
    ],
    ids=repr,
)
def test_all_conditions_must_hold(shelf: Store, wanted: JobFilter, found: list[int]) -> None:
    assert shelf.reader.select_ids(wanted) == found
    assert shelf.reader.select_ids(wanted, descending=True) == found[::-1]


@pytest.mark.parametrize("text", ["' OR 1=1 --", '"', "%", "_", "\x00", "\U0001f680"])
def test_filter_values_are_never_run_as_sql(shelf: Store, text: str) -> None:
    assert shelf.reader.select_ids(JobFilter(name=text)) == []
    assert shelf.reader.select_ids(JobFilter(owner=text, tag=text, states=(text,))) == []
    assert shelf.reader.submission(text, text) is None


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_pages_cover_all_jobs_without_gaps_or_repetitions(store: Store, limit: int, descending: bool) -> None:
    commit(store, new(*[a_job(number, owner="ann" if number % 3 else "bob") for number in range(1, 41)]))
    whole = store.reader.select_ids(JobFilter(owner="ann"), descending=descending)
    pages: list[int] = []
    after = None
    while page := store.reader.select_ids(JobFilter(owner="ann"), after=after, limit=limit, descending=descending):
        assert len(page) <= limit
        pages += page
        after = page[-1]
    assert pages == whole
    assert len(whole) == 27


def test_a_page_does_not_change_when_jobs_are_added_after_it(store: Store) -> None:
    commit(store, new(a_job(1), a_job(2), a_job(3)))
    first = store.reader.select_ids(JobFilter(), limit=2)
    commit(store, new(a_job(4)))
    assert first + store.reader.select_ids(JobFilter(), after=first[-1], limit=2) == [1, 2, 3, 4]


@pytest.mark.parametrize("count", [100, 101, 5000, 40_000])
def test_any_number_of_ids_can_be_requested(store: Store, count: int) -> None:
    commit(store, new(*[a_job(number) for number in range(1, 301)]))
    odd = tuple(range(number, number + 1) for number in range(1, 2 * count, 2))
    expected = [number for number in range(1, 301, 2) if number < 2 * count]
    assert store.reader.select_ids(JobFilter(ids=odd)) == expected
    assert store.reader.select_ids(JobFilter(ids=odd), after=10, limit=2, descending=True) == [9, 7]


def test_the_newest_of_an_owner(shelf: Store) -> None:
    assert shelf.reader.newest_of("ann") == 7
    assert shelf.reader.newest_of("bob") == 8
    assert shelf.reader.newest_of("cat") is None


def test_jobs_are_found_by_number_and_missing_ones_are_left_out(shelf: Store) -> None:
    assert sorted(shelf.reader.jobs([8, 99, 1])) == [1, 8]
    assert shelf.reader.jobs([]) == {}
    assert shelf.reader.job(99) is None


def test_queries_do_not_scan_ended_jobs_to_find_live_ones(store: Store) -> None:
    """Check the query plan: with years of ended jobs, a start-up must not read them all."""
    commit(store, new(a_job(1)))
    plan = store.reader._connection.execute("EXPLAIN QUERY PLAN SELECT id FROM jobs WHERE is_live = 1 ORDER BY id")
    assert any("jobs_live" in row[3] for row in plan)


def test_jobs_of_an_array_share_their_spec_when_they_are_read(store: Store) -> None:
    spec = a_job(1).spec
    commit(store, new(*(replace(a_job(number), spec=spec) for number in (1, 2, 3)), a_job(4, owner="bob")))
    first, second, third, other = store.reader.live_jobs()
    assert first.spec is second.spec is third.spec
    assert other.spec.owner == "bob"
    assert first.status is second.status


def test_jobs_at_work_are_found_without_a_look_at_those_that_wait(shelf: Store) -> None:
    where, values = _conditions(JobFilter(states=("running", "unknown"), is_alone=True))
    query = f"EXPLAIN QUERY PLAN SELECT id FROM jobs WHERE {' AND '.join(where)} ORDER BY id"
    plan = [row[3] for row in shelf.reader._connection.execute(query, values)]
    assert plan == ["SCAN jobs USING INDEX jobs_at_work"]


def test_queries_at_one_moment_see_the_same_commit(shelf: Store) -> None:
    with shelf.reader.at_one_moment():
        before = shelf.reader.select_ids(JobFilter())
        commit(shelf, new(a_job(9)))
        assert shelf.reader.select_ids(JobFilter()) == before
    assert shelf.reader.select_ids(JobFilter()) == [*before, 9]
