"""Progress is read without waiting for a disk or an agent that hangs."""

import asyncio
import base64
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tarmac.controller.progress import reader
from tarmac.controller.progress.reader import ProgressReader
from tarmac.controller.progress.track import LATE_S
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.status import BookedGpu, Booking, Running, Succeeded
from tests.core.support.builders import a_job


def running(number: int) -> Job:
    gpus = (BookedGpu(uuid=GpuUuid("G0"), index=0),)
    booking = Booking(node=NodeName("desk"), gpus=gpus)
    return a_job(number, status=Running(booking=booking, pid=number, started_at=0.0))


class Disk:
    """Answers once it is told to."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.questions = 0

    async def ask(self, node: str, frame: dict[str, Any]) -> dict[str, Any]:
        self.questions += 1
        assert frame["offset"] < 0, "from the end, in one question"
        await self.answers.wait()
        return {"data": base64.b64encode(b"step 1/4").decode()}


def test_a_reading_that_hangs_continues_in_the_background(monkeypatch: Any) -> None:
    monkeypatch.setattr(reader, "PATIENCE_S", 0.05)

    async def story() -> None:
        disk, jobs = Disk(), [running(1), running(2)]
        engine: Any = SimpleNamespace(state=SimpleNamespace(jobs={job.id: job for job in jobs}), now=lambda: 1000.0)
        progress = ProgressReader(engine, disk, Path("/state"))  # type: ignore[arg-type]
        async with asyncio.timeout(10):
            await progress.refresh(jobs)
            await progress.refresh(jobs)
        assert disk.questions == len(jobs), "each job is asked about once"
        assert progress.get(jobs[0]) is None
        disk.answers.set()
        async with asyncio.timeout(10):
            while progress.get(jobs[1]) is None:  # noqa: ASYNC110 - it reports to nobody
                await asyncio.sleep(0.001)
        found = progress.get(jobs[0])
        assert found is not None
        assert found.fraction == 0.25
        assert isinstance(jobs[0].status, Running)
        jobs[0].status = Succeeded(booking=jobs[0].status.booking, pid=1, started_at=0.0, ended_at=9.0)
        assert progress.get(jobs[0]) is None, "what was read before its end is not the progress of an ended job"

    asyncio.run(story())


class Logs:
    """Answers with what each file contains."""

    def __init__(self) -> None:
        self.texts: dict[str, bytes] = {}
        self.gates: dict[str, asyncio.Event] = {}

    async def ask(self, node: str, frame: dict[str, Any]) -> dict[str, Any]:
        name = Path(frame["path"]).name
        if name in self.gates:
            await self.gates[name].wait()
        return {"data": base64.b64encode(self.texts.get(name, b"")).decode()}


def test_a_new_attempt_does_not_begin_with_the_progress_of_the_last() -> None:
    async def story() -> None:
        logs, job = Logs(), running(1)
        logs.texts["1.1.log"] = b" 45%|####      | 45/100 [00:12<00:15,  3.60it/s]"
        state = SimpleNamespace(jobs={job.id: job})
        engine: Any = SimpleNamespace(state=state, now=lambda: 1000.0)
        progress = ProgressReader(engine, logs, Path("/state"))  # type: ignore[arg-type]
        await progress.refresh([job])
        assert progress.get(job) is not None
        assert list(progress.ends()) == [job.id]
        again = state.jobs[job.id] = replace(job, attempt=2)
        assert progress.get(again) is None
        assert not progress.ends()
        await progress.refresh([again])
        assert progress.get(again) is None, "it has not printed anything yet"
        assert not progress.ends()

    asyncio.run(story())


def test_a_late_reading_of_an_earlier_attempt_is_not_taken_for_the_new_one(monkeypatch: Any) -> None:
    monkeypatch.setattr(reader, "PATIENCE_S", 0.05)

    async def story() -> None:
        logs, job = Logs(), running(1)
        logs.texts = {"1.1.log": b" 45%|####      | 45/100 [00:12<00:15,  3.60it/s]", "1.2.log": b"step 1/4"}
        gate = logs.gates["1.1.log"] = asyncio.Event()
        state = SimpleNamespace(jobs={job.id: job})
        engine: Any = SimpleNamespace(state=state, now=lambda: 1000.0)
        progress = ProgressReader(engine, logs, Path("/state"))  # type: ignore[arg-type]
        await progress.refresh([job])
        again = state.jobs[job.id] = replace(job, attempt=2)
        monkeypatch.setattr(reader, "PATIENCE_S", 10.0)
        await progress.refresh([again])
        read_at = progress.read_at
        gate.set()
        async with asyncio.timeout(10):
            while progress.read_at == read_at:  # noqa: ASYNC110 - it reports to nobody
                await asyncio.sleep(0.001)
        found = progress.get(again)
        assert found is not None
        assert found.fraction == 0.25
        assert not progress.ends()

    asyncio.run(story())


def test_a_bar_that_stands_still_does_not_put_the_end_off(monkeypatch: Any) -> None:
    clock = SimpleNamespace(at=1000.0)
    monkeypatch.setattr(reader, "monotonic", lambda: clock.at)

    async def story() -> None:
        logs, job = Logs(), running(1)
        logs.texts["1.1.log"] = b" 45%|####      | 45/100 [00:12<10:00,  3.60it/s]"
        engine: Any = SimpleNamespace(state=SimpleNamespace(jobs={job.id: job}), now=lambda: clock.at)
        progress = ProgressReader(engine, logs, Path("/state"))  # type: ignore[arg-type]
        await progress.refresh([job])
        assert progress.ends() == {job.id: 1600.0}
        clock.at += 300.0
        await progress.refresh([job])
        assert progress.ends() == {job.id: 1600.0}
        clock.at += 300.0 + LATE_S / 2
        await progress.refresh([job])
        assert progress.ends() == {job.id: 1600.0}, "it may be about to end"
        clock.at += LATE_S
        await progress.refresh([job])
        assert progress.ends() == {}, "it was wrong"
        assert progress.get(job) is not None
        clock.at += 5.0
        logs.texts["1.1.log"] = b" 46%|####      | 46/100 [00:12<10:00,  3.60it/s]"
        await progress.refresh([job])
        assert progress.ends() == {job.id: clock.at + 600.0}

    asyncio.run(story())


def test_an_end_that_is_thousands_of_years_away_is_not_shown() -> None:
    async def story() -> None:
        logs, job = Logs(), running(1)
        logs.texts["1.1.log"] = b" 1%|          | 1/100 [00:12<99999999:00:00,  3.60it/s]"
        engine: Any = SimpleNamespace(state=SimpleNamespace(jobs={job.id: job}), now=lambda: 1000.0)
        progress = ProgressReader(engine, logs, Path("/state"))  # type: ignore[arg-type]
        await progress.refresh([job])
        assert progress.get(job) is not None
        assert progress.ends() == {}

    asyncio.run(story())


BAR = b" %d%%|####      | %d/100 [00:12<10:00,  3.60it/s]"


@pytest.mark.parametrize(("attempt", "append"), [(2, False), (1, True)])
def test_a_bar_that_an_earlier_attempt_left_in_the_file_says_nothing_about_the_end(attempt: int, append: bool) -> None:
    async def story() -> None:
        logs, job = Logs(), running(1)
        job = replace(job, attempt=attempt, spec=replace(job.spec, stdout="/data/out.log", append=append))
        logs.texts["out.log"] = BAR % (45, 45)
        engine: Any = SimpleNamespace(state=SimpleNamespace(jobs={job.id: job}), now=lambda: 1000.0)
        progress = ProgressReader(engine, logs, Path("/state"))  # type: ignore[arg-type]
        for _ in range(2):
            await progress.refresh([job])
            age(progress, job)
            assert not progress.ends()
        logs.texts["out.log"] += b"\n" + BAR % (1, 1)
        await progress.refresh([job])
        assert list(progress.ends()) == [job.id]

    asyncio.run(story())


def test_the_first_bar_of_an_empty_file_is_believed() -> None:
    async def story() -> None:
        logs, job = Logs(), running(1)
        job = replace(job, attempt=2, spec=replace(job.spec, stdout="/data/out.log"))
        engine: Any = SimpleNamespace(state=SimpleNamespace(jobs={job.id: job}), now=lambda: 1000.0)
        progress = ProgressReader(engine, logs, Path("/state"))  # type: ignore[arg-type]
        await progress.refresh([job])
        age(progress, job)
        logs.texts["out.log"] = BAR % (45, 45)
        await progress.refresh([job])
        assert list(progress.ends()) == [job.id]

    asyncio.run(story())


def test_a_bar_on_stderr_counts_where_that_has_a_separate_file() -> None:
    async def story() -> None:
        logs, job = Logs(), running(1)
        job = replace(job, spec=replace(job.spec, stderr="/data/err.log"))
        logs.texts = {"1.1.log": b"loss 0.3", "err.log": BAR % (45, 45)}
        engine: Any = SimpleNamespace(state=SimpleNamespace(jobs={job.id: job}), now=lambda: 1000.0)
        progress = ProgressReader(engine, logs, Path("/state"))  # type: ignore[arg-type]
        await progress.refresh([job])
        assert list(progress.ends()) == [job.id]

    asyncio.run(story())


def age(progress: ProgressReader, job: Job) -> None:
    """Make the reading old enough to be repeated."""
    progress._known[reader.attempt_of(job)].read_at -= 2 * reader.FRESH_S
