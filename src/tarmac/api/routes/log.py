"""The output of a job, byte for byte, read through its node so that it makes no difference where it ran."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from tarmac.api.deps import Context
from tarmac.api.routes.jobs import find_job
from tarmac.api.schemas.jobs import LogQuery
from tarmac.controller.controller import Controller
from tarmac.controller.log_paths import is_elsewhere, stderr_path, stdout_path
from tarmac.refusal import not_found

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tarmac.controller.publisher import Listener
    from tarmac.core.model.job import Job
    from tarmac.shared.frames import QuestionFrame

CHUNK_BYTES = 1 << 18
LOOK_AGAIN_S = 30.0


async def job_log(context: Context, word: str, query: LogQuery) -> StreamingResponse:
    """All of it, the last `lines`, or from `offset` on; with `follow=1` it goes on until the job has ended."""
    controller = context.controller
    job = find_job(context, word)
    which = query.attempt or max(job.attempt, 1)
    path = (stdout_path if query.stream == "stdout" else stderr_path)(controller.state_folder, job, which)
    if is_elsewhere(job):
        raise not_found("log.adopted", job=job.id)
    await _must_exist(controller, job, path, follow=query.follow)
    first, is_cut = query.offset or 0, False
    if query.lines is not None:
        first, is_cut = await _tail_offset(controller, job, path, query.lines)
    headers = {"Tarmac-Log-Cut": "1"} if is_cut else {}
    headers |= {
        "Tarmac-Log-Path": path.encode("ascii", "backslashreplace").decode(),
        "Tarmac-Log-Offset": str(first),  # to go on from when the stream breaks
    }
    output = _output(controller, job, which, path, first, follow=query.follow)
    return StreamingResponse(output, media_type="application/octet-stream", headers=headers)


async def _must_exist(controller: Controller, job: Job, path: str, *, follow: bool) -> None:
    """Who follows may come before there is a file, and need not know that it is none that can be read."""
    answer = await _ask(controller, job, {"type": "read_log", "path": path, "offset": 0, "limit": 0})
    if "error" not in answer:
        return
    if answer.get("is_missing") and _has_run(job):
        raise not_found("log.gone", job=job.id, path=path)
    if follow:
        return
    if job.attempt == 0:
        raise not_found("log.not_started", job=job.id)
    raise not_found("log.unreadable", job=job.id, error=answer["error"])


def _has_run(job: Job) -> bool:
    """So it had a file. Before that there is nothing to miss yet."""
    return getattr(job.status, "started_at", None) is not None


async def _tail_offset(controller: Controller, job: Job, path: str, lines: int) -> tuple[int, bool]:
    """Where the last lines begin, and whether that is too far back to be found."""
    answer = await _ask(controller, job, {"type": "tail_log", "path": path, "lines": lines})
    return int(answer.get("offset", 0)), bool(answer.get("is_cut"))


async def _output(
    controller: Controller, job: Job, attempt: int, path: str, offset: int, *, follow: bool
) -> AsyncIterator[bytes]:
    """Of one attempt. Whoever follows asks again for the next one, which may write to another file."""
    listener = controller.publisher.listen()
    try:
        while True:
            # Looked up before the reading, so that all an ended job wrote is surely read.
            now = controller.state.jobs.get(job.id)
            is_over = now is None or now.attempt > attempt
            answer = await _read(controller, job, path, offset)
            while chunk := base64.b64decode(answer.get("data", "")):
                offset += len(chunk)
                yield chunk
                answer = await _read(controller, job, path, offset)
            if not follow or now is None or is_over or controller.is_ending:
                return
            if _has_run(now) and answer.get("is_missing"):
                return  # whoever asks again after a removal is told of it
            if answer.get("size", offset) < offset:
                offset = 0  # emptied; what is written from now on is new
            else:
                await _until_news(controller, listener, job, path, offset)
    finally:
        controller.publisher.unlisten(listener)


async def _read(controller: Controller, job: Job, path: str, offset: int) -> dict[str, Any]:
    return await _ask(controller, job, {"type": "read_log", "path": path, "offset": offset, "limit": CHUNK_BYTES})


async def _until_news(controller: Controller, listener: Listener, job: Job, path: str, offset: int) -> None:
    """The file grew, or something happened to a job; before it starts there is no file to grow."""
    told = asyncio.ensure_future(listener.take(LOOK_AGAIN_S))
    grew = asyncio.ensure_future(_ask(controller, job, {"type": "watch_log", "path": path, "offset": offset}))
    try:
        await asyncio.wait({told, grew}, return_when=asyncio.FIRST_COMPLETED)
        if grew.done() and "error" in grew.result():
            await told
    finally:
        for task in (told, grew):
            task.cancel()
        await asyncio.gather(told, grew, return_exceptions=True)


async def _ask(controller: Controller, job: Job, question: QuestionFrame) -> dict[str, Any]:
    """Ask the node the job runs or ran on; before its first start, the home node."""
    booking = getattr((controller.job(job.id) or job).status, "booking", None)
    return await controller.fleet.ask(controller.fleet.home.name if booking is None else booking.node, question)
