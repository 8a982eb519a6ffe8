"""Waiting that survives a restart of the controller: for the end of jobs, for output, for events.

Nothing is delivered twice because of a restart.
"""

from __future__ import annotations

from time import monotonic, sleep

from tarmac.client.connection import header_text, keep_asking
from tarmac.client.fast.json_codec import decode
from tarmac.client.records import Job
from tarmac.errors import ConnectionLost, Unavailable
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tarmac.client.connection import Link
    from tarmac.client.jobs import Id, Jobs
    from tarmac.client.records import Event
    from tarmac.client.transport import Response

WAIT_S = 30  # one long poll
SILENT_RETRY_S = 1
AT_ONCE = 500  # ids in one long poll, so that its URL stays short


def ended_jobs(
    client: Link,
    ids: Sequence[int],
    timeout_s: float | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> Iterator[Job]:
    """Yield each job once it has ended. Waiting batch by batch takes no longer than waiting for all at once.

    `on_notice` is called with why the jobs may not end for a while, such as a paused queue or a full disk.
    """
    deadline = None if timeout_s is None else monotonic() + timeout_s
    for start in range(0, len(ids), AT_ONCE):
        yield from _batch(client, list(ids[start : start + AT_ONCE]), deadline, on_notice)


def resolved(client: Jobs, query: dict[str, object]) -> list[int]:
    """The ids that a selection matches now."""
    return [job["id"] for page in client.pages({**query, "fields": "id"}) for job in page]


def _batch(
    client: Link, ids: list[int], deadline: float | None, on_notice: Callable[[str], None] | None
) -> Iterator[Job]:
    pending, known = ids, ""
    while pending:
        asked_at = monotonic()
        left = WAIT_S if deadline is None else min(WAIT_S, deadline - asked_at)
        query: dict[str, object] = {"ids": ",".join(map(str, pending)), "timeout_s": max(0, left)}
        query["known"] = None if on_notice is None else known
        answer = keep_asking(
            client,
            client.call,
            "GET",
            "/jobs/wait",
            query=query,
            within_s=max(0, left) + client.answer_s,
            waits_s=max(0, left),
        )
        ended = [job for job in map(Job, answer["jobs"]) if job.is_ended]
        yield from ended
        before, known = known, answer.get("notice") or ""
        if on_notice is not None and known not in {"", before}:
            on_notice(known)
        if not ended and known == before and monotonic() - asked_at < min(left, 1):
            sleep(0.05)  # a controller on its way out answers at once
        done = {job.id for job in ended}
        pending = [number for number in pending if number not in done]
        if pending and deadline is not None and monotonic() >= deadline:
            raise TimeoutError(_not_ended(pending))


def _not_ended(ids: list[int]) -> str:
    return f"job {ids[0]} has not ended" if len(ids) == 1 else f"jobs {spans(ids)} have not ended"


def log_bytes(
    client: Link,
    job: Id,
    *,
    follow: bool,
    lines: int | None,
    stream: str,
    offset: int = 0,
    attempt: int | None = None,
    error: bool = False,
    since_s: float | None = None,
    on_cut: Callable[[], None] | None = None,
    on_begin: Callable[[Mapping[str, str]], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    on_attempt: Callable[[int], None] | None = None,
    ends_lines: bool = False,
) -> Iterator[bytes]:
    """Continue at the same position after a restart of the controller, and with the next attempt after an attempt."""
    query: dict[str, object] = {"stream": stream, "follow": 1 if follow else None, "attempt": attempt}
    query["notices"] = 1 if follow and attempt is None and on_notice is not None else None
    notice: str | None = None
    has_ended = False  # the job, so that the next answer is the rest of its output
    begin: dict[str, object] = {"offset": offset or None} if lines is None else {"lines": lines}
    begin |= {"error": 1 if error else None, "since_s": since_s}
    path: str | None = None
    current: int | None = None  # the attempt
    is_open = False  # its last line
    while True:
        response = _opened(client, f"/jobs/{job}/log", {**query, **begin}, is_patient=follow)
        before, path = path, response.fields.get("tarmac-log-path")
        if before not in {None, path} and offset:
            response.close()
            offset, begin = 0, {}
            continue
        notice = _told(response, notice, on_notice)
        is_open = is_open and ends_lines
        yield from _line_end(response, current, is_open=is_open)
        is_open = is_open and _number(response) == current
        current = _attempt(response, current, on_attempt)
        offset = int(response.fields.get("tarmac-log-offset", offset))
        if on_begin is not None:
            on_begin({name: header_text(value) for name, value in response.fields.items()})
            on_begin = None
        if on_cut is not None and "tarmac-log-cut" in response.fields:
            on_cut()
        try:
            for data in response.chunks():
                offset += len(data)
                is_open = not data.endswith(b"\n")
                yield data
        except ConnectionLost:
            pass  # continue after what has arrived
        else:
            if not follow or attempt is not None or has_ended:
                return
            has_ended = _was_last(client, job, response)
            if has_ended and not query["notices"]:
                return  # otherwise a notice may have ended the stream before the job ended
        finally:
            response.close()
        begin = {"offset": offset}


def _opened(client: Link, path: str, query: dict[str, object], *, is_patient: bool) -> Response:
    """`is_patient`: wait for an agent that does not answer."""
    while True:
        try:
            return keep_asking(client, client.stream, path, query)
        except Unavailable as error:
            if not is_patient or error.key != "agent.silent":
                raise
            if client.on_stale is not None:
                client.on_stale(f"{error.message}; waiting for it")
            sleep(SILENT_RETRY_S)


def _told(response: Response, before: str | None, on_notice: Callable[[str], None] | None) -> str | None:
    """The notice of this answer, passed on if it is new."""
    notice = response.fields.get("tarmac-notice")
    if on_notice is not None and notice is not None and notice != before:
        on_notice(header_text(notice))
    return notice


def _attempt(response: Response, before: int | None, on_attempt: Callable[[int], None] | None) -> int:
    """The attempt of this answer, passed on if it is not the first."""
    number = _number(response)
    if on_attempt is not None and before not in {None, number}:
        on_attempt(number)
    return number


def _line_end(response: Response, before: int | None, *, is_open: bool) -> Iterator[bytes]:
    """A newline if another attempt begins."""
    if is_open and _number(response) != before:
        yield b"\n"


def _number(response: Response) -> int:
    return int(response.fields.get("tarmac-log-attempt", 1))


def _was_last(client: Link, job: Id, response: Response) -> bool:
    """True if the job has ended and no attempt followed the one whose output was read."""
    now = Job(keep_asking(client, client.call, "GET", f"/jobs/{job}"))
    return now.is_ended and now.attempt <= int(response.fields.get("tarmac-log-attempt", now.attempt))


def events(client: Link, jobs: Iterable[int] | None) -> Iterator[Event]:
    """Listen from this call on, not from the first event that is read, so that nothing in between is missed."""
    query = {"jobs": None if jobs is None else ",".join(map(str, jobs))}
    return _events(client, query, keep_asking(client, _Listening, client, query, None))


def _events(client: Link, query: dict[str, str | None], listening: _Listening) -> Iterator[Event]:
    from tarmac.client.records import Event

    last = listening.since
    while True:
        try:
            for kind, data, event_id in listening.messages:
                last = event_id
                if kind in {"job", "gpu"}:
                    yield Event(kind, decode(data), last)
        except ConnectionLost:
            pass
        finally:
            listening.response.close()
        listening = keep_asking(client, _Listening, client, query, last)


class _Listening:
    """A stream of events that has begun: after its hello, no event is missed."""

    def __init__(self, client: Link, query: dict[str, str | None], last: str | None) -> None:
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
        self.response = client.stream("/events", query, headers)
        self.messages = sse(self.response)
        hello = next(self.messages, None)
        if hello is None:
            raise ConnectionLost("the controller went away before it answered", "try again")
        self.since = hello[2]  # of use only at first: what follows a resumed hello is older than it


def sse(response: Response) -> Iterator[tuple[str, str, str | None]]:
    """(event, data, id) of each message of a text/event-stream."""
    rest, kind, data, last = b"", "message", [], None
    for chunk in response.chunks():
        *lines, rest = (rest + chunk).split(b"\n")
        for raw in lines:
            name, _, value = raw.rstrip(b"\r").decode("utf-8").partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                kind = value
            elif name == "data":
                data.append(value)
            elif name == "id":
                last = value
            elif not name and not value and (data or kind != "message"):
                yield kind, "\n".join(data), last
                kind, data = "message", []
