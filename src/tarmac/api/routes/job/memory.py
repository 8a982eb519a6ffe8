"""How much host memory an attempt of a job took over time."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.routes.job.jobs import find_job
from tarmac.api.schemas.job.memory import MemoryQuery, MemorySamples, MemorySampleView
from tarmac.api.wording.times import iso


async def job_memory(context: Context, word: str, query: MemoryQuery) -> MemorySamples:
    """The most of each minute; for the last hour of an attempt that runs, or ended a while ago, every reading."""
    job = find_job(context, word)
    attempt = query.attempt or job.attempt
    fine = context.controller.job_memory.of(job.id, attempt)
    first = fine[0].at if fine else float("inf")
    stored = context.controller.store.reader.memory_samples(job.id, attempt)
    found = [*((at, taken) for at, taken in stored if at < first), *fine]
    return MemorySamples(
        attempt=attempt, samples=[MemorySampleView(at=str(iso(at)), bytes=taken) for at, taken in found]
    )
