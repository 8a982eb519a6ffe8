import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tarmac.controller.accounts.days import day_of
from tarmac.controller.gpus.usage import AttemptKey, DayKey, UsageBook
from tarmac.core.model.gpu import BookedGpu, ForeignProcess, GpuUse
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Job, JobSpec, Request
from tarmac.core.model.status import Booking, Running
from tarmac.nodes.reports import GpuProcess, GpuReading
from tarmac.store.accounts import Usage

G = 2**30
NODE = NodeName("desk")


def a_job(*, part: float = 1.0, attempt: int = 1) -> Job:
    spec = JobSpec(owner="a", command=("x",), shell=None, cwd="/", umask=0, environment="", request=Request())
    booked = BookedGpu(uuid=GpuUuid("g0"), index=0, part=part)
    status = Running(booking=Booking(node=NODE, gpus=(booked,)), pid=1, started_at=0.0)
    return Job(id=JobId(7), spec=spec, submitted_at=0.0, position=7, attempt=attempt, status=status)


def a_reading(utilization: int | None, memory_g: int, power_w: float | None = 100.0) -> GpuReading:
    process = GpuProcess(pid=1, memory_bytes=memory_g * G, job=7)
    return GpuReading(
        index=0,
        uuid="g0",
        memory_total_bytes=24 * G,
        memory_used_bytes=memory_g * G,
        utilization=utilization,
        power_w=power_w,
        processes=[process],
    )


def used(book: UsageBook, attempt: int = 1) -> Usage:
    return book.book(7, attempt).total(7)


def test_peak_average_and_energy_of_a_job() -> None:
    book, job = UsageBook(), a_job()
    book.settle([job], 0.0)
    book.read(NODE, [a_reading(100, 4)], [job], 0.0)
    book.read(NODE, [a_reading(0, 9)], [job], 10.0)
    book.read(NODE, [a_reading(50, 2)], [job], 30.0)
    book.settle([job], 40.0)
    usage = used(book)
    assert usage.peak_gpu_memory_bytes == 9 * G
    assert usage.utilization == (100 * 10 + 0 * 20 + 50 * 10) / 40
    assert usage.energy_j == 4000.0
    book.forget(job.id, 1)
    assert used(book) == Usage(7)


def test_a_job_that_shares_a_gpu_is_charged_for_its_part() -> None:
    book, job = UsageBook(), a_job(part=0.25)
    book.settle([job], 0.0)
    book.read(NODE, [a_reading(100, 4)], [job], 0.0)
    book.settle([job], 10.0)
    usage = used(book)
    assert usage.energy_j == 250.0


def test_a_reading_of_one_node_leaves_the_others_for_later() -> None:
    """So its cost does not grow with the number of nodes; every second is still counted once."""
    book, here = UsageBook(), a_job()
    away = Booking(node=NodeName("other"), gpus=(BookedGpu(uuid=GpuUuid("g0"), index=0),))
    there = replace(here, id=JobId(8), status=Running(booking=away, pid=1, started_at=0.0))
    book.read(NODE, [a_reading(100, 1)], [here], 0.0)
    book.read("other", [a_reading(50, 1)], [there], 0.0)
    for now in (2.0, 4.0):
        book.read(NODE, [a_reading(100, 1)], [here], now)
    assert book.book(8, 1).total(8).measured_s == 0.0
    book.settle([here, there], 10.0)
    assert {job.id: book.book(job.id, 1).total(job.id).used_s for job in (here, there)} == {7: 10.0, 8: 5.0}
    (hour,) = [row for row in book.hours.rows() if row.node == "other"]
    assert (hour.present_s, hour.held_s) == (10.0, 10.0)


def test_what_the_driver_does_not_report_stays_unknown() -> None:
    book, job = UsageBook(), a_job()
    book.read(NODE, [a_reading(None, 4, power_w=None)], [job], 0.0)
    book.settle([job], 10.0)
    usage = used(book)
    assert (usage.utilization, usage.energy_j) == (None, None)


def test_a_minute_writes_one_row_per_gpu_and_none_for_an_idle_one() -> None:
    book, job = UsageBook(), a_job()
    book.read(NODE, [a_reading(40, 4), GpuReading(index=1, uuid="g1", utilization=0)], [job], 0.0)
    book.settle([job], 60.0)
    (row,) = book.minute(60.0)
    assert (row.uuid, row.at, row.utilization, row.power_w) == ("g0", 60, 40.0, 100.0)
    assert book.minute(61.0) == []


def test_time_without_readings_does_not_count_as_idle() -> None:
    book, job = UsageBook(), a_job()
    book.read(NODE, [a_reading(80, 4)], [job], 0.0)
    book.read(NODE, [a_reading(None, 4)], [job], 10.0)
    book.settle([job], 30.0)
    usage = used(book)
    assert usage.utilization == 80.0


def test_no_usage_is_counted_without_readings() -> None:
    book, job = UsageBook(), a_job()
    book.read(NODE, [a_reading(50, 4)], [job], 0.0)
    for now in range(5, 3600, 5):
        book.settle([job], float(now))
    usage = used(book)
    assert usage.energy_j == 100.0 * 30, "a reading holds for half a minute"
    book.confirm(NODE, 3600.0)
    book.settle([job], 3610.0)
    usage = used(book)
    assert usage.energy_j == 100.0 * (30 + 10 + 5)


def test_the_usage_of_live_attempts_is_restored() -> None:
    book, later = UsageBook(), UsageBook()
    book.read(NODE, [a_reading(50, 4)], [a_job()], 0.0)
    book.settle([a_job()], 10.0)
    book.read(NODE, [a_reading(50, 5)], [a_job()], 10.0)
    later.restore(book.text(), {JobId(7): a_job()})
    assert later.attempts == book.attempts
    assert used(later) == Usage(7, 5 * G, 50.0, 1000.0, measured_s=10.0, used_s=5.0)


def test_the_usage_of_an_attempt_that_is_over_is_not_restored() -> None:
    book = UsageBook()
    book.read(NODE, [a_reading(50, 4)], [a_job()], 0.0)
    book.settle([a_job()], 10.0)
    for live in ({}, {JobId(7): a_job(attempt=2)}):
        later = UsageBook()
        later.restore(book.text(), live)
        assert later.attempts == {}


def test_usage_that_an_older_version_stored_is_restored() -> None:
    book = UsageBook()
    book.restore(
        json.dumps({"7": [5, 7.0, 300.0, 9.5, 6.0, True], "8": [5, 7.0, 300.0, 9.5, 6.0, True]}), {JobId(7): a_job()}
    )
    assert used(book) == Usage(7, 5, 50.0, 9.5, measured_s=6.0, used_s=3.0)
    assert list(book.attempts) == [AttemptKey(7, 1)]


def test_a_second_attempt_is_counted_apart_from_the_first() -> None:
    book = UsageBook()
    book.read(NODE, [a_reading(100, 9)], [a_job()], 0.0)
    book.settle([a_job()], 10.0)
    again = a_job(attempt=2)
    book.settle([again], 10.0)
    book.read(NODE, [a_reading(0, 2)], [again], 10.0)
    book.settle([again], 20.0)
    assert (used(book, 1).peak_gpu_memory_bytes, used(book, 1).utilization) == (9 * G, 100.0)
    assert (used(book, 2).peak_gpu_memory_bytes, used(book, 2).utilization) == (2 * G, 0.0)


def test_time_before_an_attempt_began_is_not_counted() -> None:
    book, job = UsageBook(), a_job()
    book.read(NODE, [a_reading(100, 4)], [], 0.0)
    book.settle([job], 10.0)  # it got its GPU since the last reading
    assert used(book) == Usage(7)
    book.settle([job], 15.0)
    assert used(book).used_s == 5.0


@pytest.mark.parametrize(
    ("others", "peak"), [((), 4 * G), ((GpuProcess(pid=2, job=8),), None), ((GpuProcess(pid=2),), None)]
)
def test_memory_that_processes_do_not_report_is_that_of_the_gpu_or_unknown(
    others: tuple[GpuProcess, ...], peak: int | None
) -> None:
    reading = a_reading(50, 4)
    reading.processes = [GpuProcess(pid=1, job=7), *others]
    book, job = UsageBook(), a_job()
    book.settle([job], 0.0)
    book.read(NODE, [reading], [job], 0.0)
    assert used(book).peak_gpu_memory_bytes == peak


@pytest.fixture
def zone() -> Iterator[None]:
    """A zone with an offset of half an hour: midnight there is at 18:30 UTC."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Kolkata"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


@pytest.mark.usefixtures("zone")
def test_use_is_split_at_midnight() -> None:
    book, job = UsageBook(), a_job()
    midnight = datetime(2026, 11, 16, 18, 30, tzinfo=UTC).timestamp()
    book.read(NODE, [a_reading(50, 4)], [job], midnight - 5)
    book.settle([job], midnight + 15)
    work = book.book(7, 1).work
    assert {key: one.seconds for key, one in work.items()} == {("2026-11-16", "g0"): 5.0, ("2026-11-17", "g0"): 15.0}
    assert work[DayKey("2026-11-17", "g0")].energy_j == 1500.0


@pytest.mark.usefixtures("zone")
def test_days_that_are_over_take_one_entry_per_gpu() -> None:
    book, job = UsageBook(), a_job()
    midnight = datetime(2026, 11, 16, 18, 30, tzinfo=UTC).timestamp()
    book.read(NODE, [a_reading(50, 4)], [job], midnight - 5)
    for day in range(60):
        book.confirm(NODE, midnight + day * 86400)
        book.settle([job], midnight + day * 86400 + 15)
        before, entries = book.book(7, 1).total(7), dict(book.book(7, 1).work)
        book.close_days(day_of(midnight + day * 86400 + 15))()
        assert book.book(7, 1).work == entries, "taken back"
        book.close_days(day_of(midnight + day * 86400 + 15))
        assert book.book(7, 1).total(7) == before
    assert len(book.book(7, 1).work) == 2
    other = UsageBook()
    other.restore(book.text(), {JobId(7): job})
    assert other.book(7, 1) == book.book(7, 1)


FOREIGN = GpuUse(outside_bytes=3 * G, foreign_processes=(ForeignProcess(pid=9, user="eve"),))


def foreign_of(book: UsageBook) -> list[tuple[str, float, float, float | None, int | None]]:
    rows = book.foreign()
    assert all(row.kind == "foreign" and row.gpu == "g0" and row.node == NODE for row in rows)
    return [(row.owner, row.held_s, row.used_s, row.energy_j, row.peak_bytes) for row in rows]


def test_foreign_processes_are_counted_on_a_gpu_that_no_job_holds() -> None:
    book = UsageBook()
    book.read(NODE, [a_reading(50, 4)], [], 0.0)
    book.note_foreign(NODE, [(GpuUuid("g0"), FOREIGN)])
    book.settle([], 10.0)
    assert foreign_of(book) == [("eve", 10.0, 5.0, 1000.0, 3 * G)]
    book.note_foreign(NODE, [(GpuUuid("g0"), GpuUse())])
    book.settle([], 20.0)
    assert foreign_of(book) == [("eve", 10.0, 5.0, 1000.0, 3 * G)]
    before = book.foreign()
    rows, undo = book.take_foreign()
    assert (rows, book.foreign()) == (before, [])
    book.note_foreign(NODE, [(GpuUuid("g0"), FOREIGN)])
    book.settle([], 25.0)
    undo()  # nothing could be written
    assert foreign_of(book) == [("eve", 15.0, 7.5, 1500.0, 3 * G)]


def test_a_gpu_that_is_no_longer_listed_is_not_counted() -> None:
    book = UsageBook()
    book.read(NODE, [a_reading(50, 4)], [], 0.0)
    book.note_foreign(NODE, [(GpuUuid("g0"), FOREIGN)])
    book.settle([], 10.0)
    book.note_foreign("other", [])
    book.settle([], 15.0)
    book.note_foreign(NODE, [])
    book.settle([], 20.0)
    assert foreign_of(book) == [("eve", 15.0, 7.5, 1500.0, 3 * G)]


def test_foreign_processes_beside_a_job_are_charged_for_the_rest_of_the_gpu() -> None:
    book, half, whole = UsageBook(), a_job(part=0.5), a_job()
    book.read(NODE, [a_reading(50, 4)], [half], 0.0)
    book.note_foreign(NODE, [(GpuUuid("g0"), FOREIGN)])
    book.settle([half], 10.0)
    assert foreign_of(book) == [("eve", 5.0, 2.5, 500.0, 3 * G)]
    book.settle([whole], 20.0)
    assert foreign_of(book) == [("eve", 5.0, 2.5, 500.0, 3 * G)], "the job holds all of it"


def test_several_foreign_users_share_what_they_used() -> None:
    book = UsageBook()
    both = GpuUse(foreign_processes=tuple(ForeignProcess(pid=pid, user=user) for pid, user in ((1, "eve"), (2, None))))
    book.read(NODE, [a_reading(None, 4, power_w=None)], [], 0.0)
    book.note_foreign(NODE, [(GpuUuid("g0"), both)])
    book.settle([], 10.0)
    assert [(row.owner, row.held_s, row.measured_s, row.energy_j) for row in book.foreign()] == [
        ("", 5.0, 0.0, None),
        ("eve", 5.0, 0.0, None),
    ]


def test_without_jobs_no_usage_is_stored() -> None:
    book = UsageBook()
    assert book.text() is None
    book.restore(None, {JobId(7): a_job()})
    assert book.attempts == {}
