"""The output of a job, byte for byte, read by the agent of the node it ran on."""

from __future__ import annotations

import asyncio
import base64
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import StreamingResponse

from tarmac.api.answers import header_text
from tarmac.api.deps import Context
from tarmac.api.protocol import ABORT
from tarmac.api.routes.job.jobs import find_job
from tarmac.api.schemas.job.jobs import LogQuery
from tarmac.api.wording.why.degraded import wait_words
from tarmac.controller.controller import Controller
from tarmac.controller.log_paths import default_log, is_elsewhere, stderr_path, stdout_path
from tarmac.core.model.ids import NodeName
from tarmac.core.model.status import is_ended
from tarmac.refusal import Refused, invalid, not_found, unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Container

    from starlette.types import Receive, Scope, Send

    from tarmac.controller.publisher import Listener
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Booking
    from tarmac.shared.frames.to_agent import QuestionFrame

CHUNK_BYTES = 1 << 18
LOOK_AGAIN_S = 30.0
LINE_BYTES = 8192  # that are searched for the beginning of a line
TRY_AGAIN_S = 2.0  # after a watch failed: the file does not exist yet, or the node is away
ANY_NOTICE: frozenset[str | None] = frozenset()


class Which(NamedTuple):
    """Whose output: that of an attempt, and of a job on several nodes that of one part."""

    attempt: int
    part: int = 0


class LogStream(StreamingResponse):
    """Resets the connection if the output cannot be read on, so that the client notices and asks again."""

    _abort: Callable[[], None] | None = None
    _is_broken = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._abort = scope["extensions"].get(ABORT)
        await super().__call__(scope, receive, send)
        while self._is_broken and (await receive())["type"] != "http.disconnect":
            pass  # until the connection is gone

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        except Refused:
            if self._abort is None:
                raise
            self._abort()
            self._is_broken = True


async def job_log(context: Context, word: str, query: LogQuery) -> LogStream:
    """All of the output, its last `lines`, or from `offset` on. With `follow=1` the stream lasts until the job ends."""
    controller = context.controller
    job = find_job(context, word)
    if query.error and (query.follow or (query.lines, query.offset, query.since_s) != (None, None, None)):
        raise invalid("log.error_alone")
    _refuse_what_has_no_file(controller, job, query)
    part = _part(job, query)
    which = Which(query.attempt or await _first_attempt(controller, job, part, query), part)
    path = _path(controller, job, which, query)
    await controller.fleet.refuse_silence(_node_of(controller, job, which))
    begin = await _must_exist(controller, job, which, path, follow=query.follow)
    first, is_cut = max(query.offset or 0, begin), False
    if query.since_s is not None:
        first = await _since_offset(controller, job, which, path, query.since_s)
    if query.lines is not None:
        tail, is_cut = await _tail_offset(controller, job, which, path, query.lines)
        first = max(first, tail) if query.since_s is not None else tail
    headers = {"Tarmac-Log-Cut": "1"} if is_cut else {}
    if begin and first <= begin:
        headers["Tarmac-Log-Removed"] = str(begin)  # by the setting log_limit
    if query.error:
        path, first = await _error_place(controller, job, which, path, query)
    notice = wait_words(controller, [job.id]) if query.follow else None
    headers |= {} if notice is None else {"Tarmac-Notice": header_text(notice)}
    headers |= {
        "Tarmac-Log-Attempt": str(which.attempt),
        "Tarmac-Log-Path": header_text(path),
        "Tarmac-Log-Offset": str(first),  # to go on from when the stream breaks
    }
    ends_with = {notice} if query.notices else ANY_NOTICE
    output = _output(controller, job, which, path, first, follow=query.follow, notices=ends_with)
    return LogStream(output, media_type="application/octet-stream", headers=headers)


def _path(controller: Controller, job: Job, which: Which, query: LogQuery) -> str:
    return (stdout_path if query.stream == "stdout" else stderr_path)(controller.state_folder, job, *which)


async def _first_attempt(controller: Controller, job: Job, part: int, query: LogQuery) -> int:
    """The newest attempt, or `from_attempt`. Skips attempts without output: they never started, or it was removed."""
    newest = max(job.attempt, 1)
    chosen = job.spec.stdout if query.stream == "stdout" else job.spec.stderr
    if query.from_attempt is None or chosen is not None:  # all attempts write to a chosen file
        return newest
    for attempt in range(query.from_attempt, newest):
        question: QuestionFrame = {
            "type": "read_log",
            "path": _path(controller, job, Which(attempt, part), query),
            "offset": 0,
            "limit": 0,
        }
        if not (await _ask(controller, job, Which(attempt, part), question)).get("is_missing"):
            return attempt
    return newest


async def _error_place(controller: Controller, job: Job, which: Which, path: str, query: LogQuery) -> tuple[str, int]:
    """The file and the offset where the error begins. A separate stderr is where most programs write it."""
    paths = [path]
    if query.stream == "stdout":
        paths.insert(0, stderr_path(controller.state_folder, job, *which))
    for candidate in dict.fromkeys(paths):
        question: QuestionFrame = {"type": "tail_log", "path": candidate, "lines": 0, "error": True}
        answer = await _ask(controller, job, which, question)
        if answer.get("is_silent"):
            raise unavailable("log.silent", job=job.id, error=answer["error"])
        if answer.get("is_found"):
            return candidate, int(answer["offset"])
    raise not_found("log.no_error", job=job.id)


def _refuse_what_has_no_file(controller: Controller, job: Job, query: LogQuery) -> None:
    """Refuse a stream or an attempt without a separate file. A follower may wait for the next attempt."""
    if is_elsewhere(job):
        raise not_found("log.adopted", job=job.id)
    if query.stream == "stderr" and stderr_path(controller.state_folder, job, 1) == stdout_path(
        controller.state_folder, job, 1
    ):
        raise invalid("log.merged", job=job.id)
    if job.attempt == 0 and is_ended(job.status):
        raise not_found("log.never_ran", job=job.id)
    if query.attempt is None:
        return
    is_awaited = query.follow and not controller.is_ended(job.id) and query.attempt == job.attempt + 1
    if query.attempt > job.attempt and not is_awaited:
        raise not_found("log.no_attempt", job=job.id, attempts=job.attempt)
    chosen = job.spec.stdout if query.stream == "stdout" else job.spec.stderr
    if chosen is not None and job.attempt > 1:
        raise invalid("log.one_file", job=job.id, path=chosen)


async def _since_offset(controller: Controller, job: Job, which: Which, path: str, since_s: float) -> int:
    """The beginning of the line that was written then, or of one somewhat before it."""
    at = controller.now() - since_s
    ended_at = getattr(job.status, "ended_at", None)
    offset = controller.log_keeper.offset_at(job, which.attempt, path, at)
    if which.attempt == job.attempt and ended_at is not None and ended_at < at:
        offset = 1 << 62  # the end
    begin = max(0, offset - LINE_BYTES)
    question: QuestionFrame = {"type": "read_log", "path": path, "offset": begin, "limit": min(offset, LINE_BYTES)}
    answer = await _ask(controller, job, which, question)
    if "error" in answer or answer["size"] <= offset:
        return int(answer.get("size", 0))
    before = base64.b64decode(answer["data"])
    return int(answer.get("offset", begin)) + before.rfind(b"\n") + 1 if b"\n" in before else offset


async def _must_exist(controller: Controller, job: Job, which: Which, path: str, *, follow: bool) -> int:
    """Refuse output that is missing. A follower may come before the file exists. Returns where the output begins."""
    had_run = _has_run(job, which) or which.attempt < job.attempt  # before it is asked: the job goes on meanwhile
    answer = await _ask(controller, job, which, {"type": "read_log", "path": path, "offset": 0, "limit": 0})
    if "error" not in answer:
        return int(answer.get("offset", 0))  # an older agent does not limit the size of logs
    if answer.get("is_silent"):
        raise unavailable("log.silent", job=job.id, error=answer["error"])
    if answer.get("is_missing") and had_run:
        if (node := _started_on(controller, job, which)) is not None and not controller.fleet.has(node):
            raise not_found("log.node_removed", job=job.id, node=node)
        raise not_found("log.gone", job=job.id, path=path)
    if _has_run(controller.job(job.id) or job, which) and not had_run:
        return await _must_exist(controller, controller.job(job.id) or job, which, path, follow=follow)
    if follow and answer.get("is_missing"):
        return 0
    if job.attempt == 0:
        raise not_found("log.not_started", job=job.id)
    raise not_found("log.unreadable", job=job.id, error=answer["error"])


def _has_run(job: Job, which: Which) -> bool:
    """True once its command ran, and so had a file."""
    booking: Booking | None = getattr(job.status, "booking", None)
    if which.part and booking is not None:
        return booking.progress is not None and booking.progress.has_started(which.part)
    return getattr(job.status, "started_at", None) is not None


async def _tail_offset(controller: Controller, job: Job, which: Which, path: str, lines: int) -> tuple[int, bool]:
    """Where the last lines begin, and whether the search was cut short."""
    answer = await _ask(controller, job, which, {"type": "tail_log", "path": path, "lines": lines})
    if answer.get("is_silent"):
        raise unavailable("log.silent", job=job.id, error=answer["error"])
    return int(answer.get("offset", 0)), bool(answer.get("is_cut"))


async def _output(
    controller: Controller,
    job: Job,
    which: Which,
    path: str,
    offset: int,
    *,
    follow: bool,
    notices: Container[str | None],
) -> AsyncIterator[bytes]:
    """The output of one attempt. A follower asks again for the next attempt, which may write to another file.

    The stream ends when there is a notice other than `notices`: only the next answer can carry it.
    """
    listener = controller.publisher.listen([job.id])
    try:
        while True:
            # Looked up before reading, so that everything an ended job wrote is read.
            now = controller.state.jobs.get(job.id)
            is_over = now is None or now.attempt > which.attempt
            had_run = now is not None and _has_run(now, which)
            answer = await _read(controller, job, which, path, offset)
            while chunk := base64.b64decode(answer.get("data", "")):
                offset = max(offset, answer.get("offset", 0)) + len(chunk)  # a cap may have removed some
                yield chunk
                answer = await _read(controller, job, which, path, offset)
            if not follow or now is None or is_over or controller.is_ending:
                return
            if notices is not ANY_NOTICE and wait_words(controller, [job.id]) not in notices:
                return
            if had_run and answer.get("is_missing"):
                return  # the next request reports the removal
            if answer.get("size", offset) < offset:
                offset = 0  # truncated; everything from now on is new
            else:
                await _until_news(controller, listener, job, which, path, offset)
    except Refused:
        if not (follow and controller.fleet.is_ending):
            raise  # the client notices that the stream broke
    finally:
        controller.publisher.unlisten(listener)


async def _read(controller: Controller, job: Job, which: Which, path: str, offset: int) -> dict[str, Any]:
    question: QuestionFrame = {"type": "read_log", "path": path, "offset": offset, "limit": CHUNK_BYTES}
    answer = await _ask(controller, job, which, question)
    if answer.get("is_silent"):  # this breaks the stream; the next request says why
        raise unavailable("log.silent", job=job.id, error=answer["error"])
    if "error" in answer and not answer["is_missing"]:
        raise not_found("log.unreadable", job=job.id, error=answer["error"])
    return answer


async def _until_news(
    controller: Controller, listener: Listener, job: Job, which: Which, path: str, offset: int
) -> None:
    """Wait until the file grows or the job changes. Before the start, the file does not exist yet."""
    changed = asyncio.ensure_future(listener.take(LOOK_AGAIN_S))
    grew = asyncio.ensure_future(_ask(controller, job, which, {"type": "watch_log", "path": path, "offset": offset}))
    try:
        await asyncio.wait({changed, grew}, return_when=asyncio.FIRST_COMPLETED)
        if grew.done() and "error" in grew.result():
            await asyncio.wait({changed}, timeout=TRY_AGAIN_S)
    finally:
        for task in (changed, grew):
            task.cancel()
        await asyncio.gather(changed, grew, return_exceptions=True)


async def _ask(controller: Controller, job: Job, which: Which, question: QuestionFrame) -> dict[str, Any]:
    return await controller.fleet.ask(_node_of(controller, job, which), question)


def _node_of(controller: Controller, job: Job, which: Which) -> NodeName:
    """The node whose agent has the output. Before the first start, and after a node was removed, the home node."""
    node = _started_on(controller, job, which)
    if node is None or not controller.fleet.has(node) or _was_fetched(controller, job, which, node):
        return controller.fleet.home.name
    return node


def _was_fetched(controller: Controller, job: Job, which: Which, node: NodeName) -> bool:
    """True if the node was removed and added again meanwhile: its logs are on this machine."""
    path = default_log(controller.state_folder, job.id, *which)
    return controller.fleet.is_elsewhere(node) and os.path.exists(path)


def _started_on(controller: Controller, job: Job, which: Which) -> NodeName | None:
    """The node the attempt runs or ran on; None before the first start."""
    now = controller.job(job.id) or job
    booking: Booking | None = getattr(now.status, "booking", None)
    if which.part and (which.attempt != now.attempt or booking is None):
        ended = controller.store.reader.attempts(job.id)
        booking = next((one.attempt.booking for one in ended if one.attempt.number == which.attempt), booking)
        return None if booking is None else booking.nodes[which.part]
    current = None if booking is None else booking.nodes[which.part]
    if which.attempt != now.attempt or current is None:
        current = controller.store.reader.node_of_attempt(job.id, which.attempt) or current
    return current


def _part(job: Job, query: LogQuery) -> int:
    """The part of the job on the node that is asked for."""
    if query.node is None:
        return 0
    booking: Booking | None = getattr(job.status, "booking", None)
    if booking is None:
        raise not_found("log.not_started", job=job.id)
    if query.node not in booking.nodes:
        raise invalid("log.not_on_node", job=job.id, node=query.node, nodes=list(booking.nodes))
    return booking.nodes.index(NodeName(query.node))
