"""What an attempt adds to the accounts when it gives its GPUs back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tarmac.controller.accounts.rollup import accounts_of, running_accounts, usage_of
from tarmac.controller.gpus.usage import AttemptBook, Integral, UsageBook
from tarmac.core.changes import Release
from tarmac.core.events import StopAsked
from tarmac.core.machine import handle
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.status import Booking
from tarmac.core.state import State
from tarmac.store.accounts import Account
from tests.controller.accounts.zones import zone
from tests.core.support.builders import BOX, a_job, a_status

DAY_S = 86400.0
G = 2**30


@pytest.fixture(autouse=True)
def in_utc() -> Iterator[None]:
    with zone("UTC"):
        yield


def a_release(
    *parts: float, since: float = 0.0, until: float = 100.0, attempt: int = 1, paused_s: float = 0.0
) -> Release:
    gpus = tuple(BookedGpu(uuid=GpuUuid(f"g{index}"), index=index, part=part) for index, part in enumerate(parts))
    return Release(JobId(7), attempt, "ann", None, Booking(node=BOX, gpus=gpus), since, until, paused_s)


def held(rows: list[Account]) -> dict[tuple[str, str], float]:
    return {(row.day, row.gpu): row.held_s for row in rows if row.gpu}


def test_each_gpu_and_day_gets_what_was_held_of_it() -> None:
    rows = accounts_of(a_release(1.0, 0.25, since=DAY_S - 100, until=DAY_S + 300), AttemptBook())
    assert held(rows) == {
        ("1970-01-01", "g0"): 100.0,
        ("1970-01-02", "g0"): 300.0,
        ("1970-01-01", "g1"): 25.0,
        ("1970-01-02", "g1"): 75.0,
    }
    assert usage_of(a_release(1.0, 0.25, since=DAY_S - 100, until=DAY_S + 300), AttemptBook()).held_s == 500.0


def test_what_was_used_is_added_to_what_was_held() -> None:
    book = AttemptBook()
    work = book.of("1970-01-01", "g0")
    work.used_s, work.measured_s, work.energy_j, work.has_power, work.peak_bytes = 40.0, 80.0, 9.0, True, 3 * G
    (row,) = [row for row in accounts_of(a_release(1.0), book) if row.gpu]
    assert row == Account(
        day="1970-01-01", owner="ann", node=BOX, gpu="g0", held_s=100.0, measured_s=80.0, used_s=40.0, energy_j=9.0,
        peak_bytes=3 * G,
    )  # fmt: skip


def test_a_job_counts_once_however_many_attempts_it_needs() -> None:
    counts = [sum(row.jobs for row in accounts_of(a_release(1.0, 1.0, attempt=n), AttemptBook())) for n in (1, 2, 3)]
    assert counts == [1, 0, 0]


def test_a_job_without_gpus_is_counted_and_holds_nothing() -> None:
    (row,) = accounts_of(a_release(), AttemptBook())
    assert (row.jobs, row.held_s, row.gpu) == (1, 0.0, "")


def test_paused_time_is_part_of_what_was_held() -> None:
    rows = accounts_of(a_release(0.5, paused_s=25.0), AttemptBook())
    assert [(row.held_s, row.pause_s) for row in rows if row.gpu] == [(50.0, 12.5)]
    assert usage_of(a_release(0.5, paused_s=25.0), AttemptBook()).pause_s == 12.5


def test_an_attempt_that_ended_as_it_began_holds_nothing() -> None:
    assert held(accounts_of(a_release(1.0, since=5.0, until=5.0, paused_s=3.0), AttemptBook())) == {}


def test_running_attempts_count_up_to_now_and_once_they_end_as_much() -> None:
    state = State()
    job = a_job(
        7, status=replace(a_status("running", Booking(node=BOX, gpus=a_release(1.0).booking.gpus)), started_at=100.0)
    )
    state.load([job], next_id=8, now=150.0)
    assert held(list(running_accounts(state, UsageBook(), 400.0))) == {("1970-01-01", "g0"): 300.0}
    handle(state, StopAsked(job=JobId(7), by="ann"), 410.0)
    assert held(list(running_accounts(state, UsageBook(), 420.0))) == {("1970-01-01", "g0"): 320.0}, "still holds it"


def test_the_sums_of_an_integral() -> None:
    assert Integral().average is None
    assert Integral().energy is None
