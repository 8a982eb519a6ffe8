"""Progress is read without waiting for a disk or an agent that hangs."""

import asyncio
import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tarmac.controller.progress import reader
from tarmac.controller.progress.reader import ProgressReader
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.job import Job
from tarmac.core.model.status import BookedGpu, Booking, Running
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
        engine: Any = SimpleNamespace(state=SimpleNamespace(jobs={job.id: job for job in jobs}))
        progress = ProgressReader(engine, disk, Path("/state"))  # type: ignore[arg-type]
        async with asyncio.timeout(10):
            await progress.refresh(jobs)
            await progress.refresh(jobs)
        assert disk.questions == len(jobs), "each job is asked about once"
        assert progress.get(jobs[0].id) is None
        disk.answers.set()
        async with asyncio.timeout(10):
            while progress.get(jobs[1].id) is None:  # noqa: ASYNC110 - it reports to nobody
                await asyncio.sleep(0.001)
        found = progress.get(jobs[0].id)
        assert found is not None
        assert found.fraction == 0.25

    asyncio.run(story())
