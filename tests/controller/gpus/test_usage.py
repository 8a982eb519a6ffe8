from tarmac.controller.gpus.usage import Integral, JobBook, UsageBook
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Job, JobSpec, Request
from tarmac.core.model.status import Booking, Running
from tarmac.nodes.reports import GpuProcess, GpuReading

G = 2**30
NODE = NodeName("desk")


def a_job(*, memory_bytes: int = 0) -> Job:
    spec = JobSpec(owner="a", command=("x",), shell=None, cwd="/", umask=0, environment="", request=Request())
    booked = BookedGpu(uuid=GpuUuid("g0"), index=0, memory_bytes=memory_bytes)
    status = Running(booking=Booking(node=NODE, gpus=(booked,)), pid=1, started_at=0.0)
    return Job(id=JobId(7), spec=spec, submitted_at=0.0, position=7, attempt=1, status=status)


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


def test_peak_average_and_energy_of_a_job() -> None:
    book, job = UsageBook(), a_job()
    book.settle([job], 0.0)
    book.read(NODE, [a_reading(100, 4)], [job], 0.0)
    book.read(NODE, [a_reading(0, 9)], [job], 10.0)
    book.read(NODE, [a_reading(50, 2)], [job], 30.0)
    book.settle([job], 40.0)
    usage = book.of(job.id)
    assert usage is not None
    assert usage.peak_gpu_memory_bytes == 9 * G
    assert usage.utilization == (100 * 10 + 0 * 20 + 50 * 10) / 40
    assert usage.energy_j == 4000.0
    book.forget(job.id)
    assert book.of(job.id) is None


def test_a_job_that_shares_a_gpu_is_charged_for_its_part() -> None:
    book, job = UsageBook(), a_job(memory_bytes=6 * G)
    book.settle([job], 0.0)
    book.read(NODE, [a_reading(100, 4)], [job], 0.0)
    book.settle([job], 10.0)
    usage = book.of(job.id)
    assert usage is not None
    assert usage.energy_j == 250.0


def test_what_the_driver_does_not_report_stays_unknown() -> None:
    book, job = UsageBook(), a_job()
    book.read(NODE, [a_reading(None, 4, power_w=None)], [job], 0.0)
    book.settle([job], 10.0)
    usage = book.of(job.id)
    assert usage is not None
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
    usage = book.of(job.id)
    assert usage is not None
    assert usage.utilization == 80.0


def test_no_usage_is_counted_without_readings() -> None:
    book, job = UsageBook(), a_job()
    book.read(NODE, [a_reading(50, 4)], [job], 0.0)
    for now in range(5, 3600, 5):
        book.settle([job], float(now))
    usage = book.of(job.id)
    assert usage is not None
    assert usage.energy_j == 100.0 * 30, "a reading holds for half a minute"
    book.confirm(NODE, 3600.0)
    book.settle([job], 3610.0)
    usage = book.of(job.id)
    assert usage is not None
    assert usage.energy_j == 100.0 * (30 + 10 + 5)


def test_the_usage_of_live_jobs_is_restored() -> None:
    work = Integral(seconds=7.0, utilization=300.0, energy_j=9.5, known_s=6.0, has_power=True)
    book, later = UsageBook(), UsageBook()
    book.jobs = {JobId(1): JobBook(peak_bytes=5, work=work), JobId(2): JobBook()}
    later.restore(book.text(), {JobId(1), JobId(3)})
    assert later.jobs == {JobId(1): book.jobs[JobId(1)]}


def test_without_jobs_no_usage_is_stored() -> None:
    book = UsageBook()
    assert book.text() is None
    book.restore(None, {JobId(1)})
    assert book.jobs == {}
