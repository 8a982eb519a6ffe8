"""Waiting that survives a restart of the controller: for the end of jobs, for output, for events.

Nothing is delivered twice because of a restart.
"""

from __future__ import annotations

from time import monotonic, sleep

from tarmac.client.connection import header_text
from tarmac.client.controller_process.patience import keep_asking
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
AT_ONCE = 10_000  # jobs in one long poll
SPANS_AT_ONCE = 500  # ranges of their ids, so that its URL stays short
IDS_IN_A_PAGE = 10_000


def ended_jobs(
    client: Link,
    ids: Sequence[int],
    timeout_s: float | None = None,
    on_notice: Callable[[str], None] | None = None,
    fields: str | None = None,
) -> Iterator[Job]:
    """Yield each job once it has ended. Waiting batch by batch takes no longer than waiting for all at once.

    `on_notice` is called with why the jobs may not end for a while, such as a paused queue or a full disk.
    `fields`: `id`, `state`, `ended_at` and those that the caller reads; all by default.
    """
    deadline = None if timeout_s is None else monotonic() + timeout_s
    for some in _batches(ids):
        yield from _batch(client, some, deadline, on_notice, fields)


def resolved(client: Jobs, query: dict[str, object]) -> list[int]:
    """The ids that a selection matches now."""
    return [job["id"] for page in client.pages({**query, "fields": "id"}, size=IDS_IN_A_PAGE) for job in page]


def _batches(ids: Sequence[int]) -> Iterator[list[int]]:
    """Consecutive ids are short in a URL, so that a batch of them can be larger."""
    batch: list[int] = []
    spans_of_batch = 0
    for number in ids:
        begins = not batch or number != batch[-1] + 1
        if len(batch) == AT_ONCE or (begins and spans_of_batch == SPANS_AT_ONCE):
            yield batch
            batch, spans_of_batch, begins = [], 0, True
        spans_of_batch += begins
        batch.append(number)
    if batch:
        yield batch


def _batch(
    client: Link,
    ids: list[int],
    deadline: float | None,
    on_notice: Callable[[str], None] | None,
    fields: str | None,
) -> Iterator[Job]:
    pending, known = ids, ""
    while pending:
        asked_at = monotonic()
        left = WAIT_S if deadline is None else min(WAIT_S, deadline - asked_at)
        query: dict[str, object] = {"ids": spans(pending), "timeout_s": max(0, left), "fields": fields}
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
        jobs = list(map(Job, answer["jobs"]))
        ended = [job for job in jobs if job.is_ended]
        yield from ended
        _refuse_removed(client, pending, {job.id for job in jobs}.union(answer["pending"]))
        before, known = known, answer.get("notice") or ""
        if on_notice is not None and known not in {"", before}:
            on_notice(known)
        if not ended and known == before and monotonic() - asked_at < min(left, 1):
            sleep(0.05)  # a controller on its way out answers at once
        done = {job.id for job in ended}
        pending = [number for number in pending if number not in done]
        if pending and deadline is not None and monotonic() >= deadline:
            raise TimeoutError(_not_ended(pending))


def _refuse_removed(client: Link, ids: list[int], known: set[int]) -> None:
    """Raise NotFound if a job was removed: an answer about a range does not mention it."""
    for number in ids:
        if number not in known:
            client.call("GET", f"/jobs/{number}")


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
    from_attempt: int | None = None,
    error: bool = False,
    since_s: float | None = None,
    node: str | None = None,
    on_cut: Callable[[], None] | None = None,
    on_begin: Callable[[Mapping[str, str]], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    on_attempt: Callable[[int], None] | None = None,
    ends_lines: bool = False,
) -> Iterator[bytes]:
    """Continue at the same position after a restart of the controller, and with the next attempt after an attempt."""
    query: dict[str, object] = {"stream": stream, "follow": 1 if follow else None, "attempt": attempt}
    query["notices"] = 1 if follow and attempt is None and on_notice is not None else None
    query |= {"from_attempt": from_attempt, "node": node}
    begin: dict[str, object] = {"offset": offset or None} if lines is None else {"lines": lines}
    begin |= {"error": 1 if error else None, "since_s": since_s}
    reading = _Reading(offset, on_notice, on_attempt, on_begin, on_cut, ends_lines=ends_lines)
    has_ended = False  # the job, so that the next answer is the rest of its output
    while True:
        response = _opened(client, f"/jobs/{job}/log", {**query, **begin}, is_patient=follow)
        if reading.is_of_another_file(response):
            response.close()
            reading.offset, begin = 0, {}
            continue
        yield from reading.begin(response)
        query["from_attempt"] = reading.attempt if attempt is None else None
        try:
            yield from reading.data(response)
        except ConnectionLost:
            pass  # continue after what has arrived
        else:
            query["from_attempt"] = reading.attempt + 1 if attempt is None else None
            if not follow or attempt is not None or has_ended:
                return
            has_ended = _was_last(client, job, response)
            if has_ended and not query["notices"]:
                return  # otherwise a notice may have ended the stream before the job ended
        finally:
            response.close()
        begin = {"offset": reading.offset}


class _Reading:
    """How far a log has been read, over all answers, and who is told about what."""

    def __init__(
        self,
        offset: int,
        on_notice: Callable[[str], None] | None,
        on_attempt: Callable[[int], None] | None,
        on_begin: Callable[[Mapping[str, str]], None] | None,
        on_cut: Callable[[], None] | None,
        *,
        ends_lines: bool,
    ) -> None:
        self.offset = offset
        self.on_notice = on_notice
        self.on_attempt = on_attempt
        self.on_begin = on_begin
        self.on_cut = on_cut
        self.ends_lines = ends_lines
        self.notice: str | None = None
        self.path: str | None = None
        self.attempt = 0  # the one that was read last
        self.is_open = False  # the last line

    def is_of_another_file(self, response: Response) -> bool:
        """True if an answer does not continue what was read."""
        before, self.path = self.path, response.fields.get("tarmac-log-path")
        return before not in {None, self.path} and self.offset > 0

    def begin(self, response: Response) -> Iterator[bytes]:
        """Report what is new in this answer. A newline if another attempt begins after an open line."""
        fields = response.fields
        notice = fields.get("tarmac-notice")
        if self.on_notice is not None and notice is not None and notice != self.notice:
            self.on_notice(header_text(notice))
        before, self.notice, self.attempt = self.attempt, notice, int(fields.get("tarmac-log-attempt", 1))
        if before not in {0, self.attempt}:
            if self.is_open and self.ends_lines:
                yield b"\n"
            self.is_open = False
            if self.on_attempt is not None:
                self.on_attempt(self.attempt)
        self.offset = int(fields.get("tarmac-log-offset", self.offset))
        if self.on_begin is not None:
            self.on_begin({name: header_text(value) for name, value in fields.items()})
            self.on_begin = None
        if self.on_cut is not None and "tarmac-log-cut" in fields:
            self.on_cut()

    def data(self, response: Response) -> Iterator[bytes]:
        for data in response.chunks():
            self.offset += len(data)
            self.is_open = not data.endswith(b"\n")
            yield data


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
