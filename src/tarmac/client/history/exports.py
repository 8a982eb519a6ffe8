"""Exported jobs: reading them from a controller, and giving them to one. All work on streams of lines."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from tarmac.client.jobs import Jobs

    Record = dict[str, Any]

PAGE = 200  # jobs in one answer
LINES = 1000  # in one request
PART_BYTES = 4 << 20  # of lines in one request
CHUNK = 192 << 10  # bytes of a log in one line
IMPORT_S = 300


def exported(
    client: Jobs, query: Mapping[str, object], *, with_environment: bool = False, with_logs: bool = False
) -> Iterator[Record]:
    """The lines of a file: the header, then each job, followed by the parts of its logs."""
    after, is_first = 0, True
    while True:
        more = {"environment": "true" if with_environment else None, "after": after, "limit": PAGE}
        page = client.call("GET", "/history/export", query={**query, **more})
        if is_first:
            yield page["header"]
            is_first = False
        for record in page["records"]:
            yield record
            if with_logs:
                yield from _logs(client, record["job"])
        if page["next"] is None:
            return
        after = page["next"]


def _logs(client: Jobs, job: Mapping[str, Any]) -> Iterator[Record]:
    """Only logs in Tarmac's directory: the other files belong to their owners."""
    from binascii import b2a_base64

    from tarmac.errors import NotFound, TarmacError

    spec = job["spec"]
    if spec.get("stdout") is not None or spec.get("is_adopted"):
        return
    for attempt in range(1, job["attempt"] + 1):
        offset = 0
        try:
            for data in _chunks(client.logs(job["id"], attempt=attempt)):
                text = b2a_base64(data, newline=False).decode()
                yield {"log": {"job": job["id"], "attempt": attempt, "offset": offset, "data": text}}
                offset += len(data)
        except NotFound:
            continue  # it never started, or its log was deleted
        except TarmacError as error:
            if error.key is None or not error.key.startswith("log."):
                raise


def _chunks(parts: Iterable[bytes]) -> Iterator[bytes]:
    left = b""
    for part in parts:
        left += part
        while len(left) >= CHUNK:
            yield left[:CHUNK]
            left = left[CHUNK:]
    if left:
        yield left


class Import:
    """Sends the lines of a file, part by part. Call `finish` at the end."""

    def __init__(self, client: Jobs, *, above: int = 0, dry_run: bool = False) -> None:
        self.client = client
        self.added = 0
        self.known = 0
        self.logs = 0
        self._above = above
        self._dry_run = dry_run
        self._header: Record = {}
        self._lines: list[dict[str, Any]] = []
        self._ids: dict[int, int] = {}  # of the jobs that were sent last: here, by those in the file
        self._logs: list[Record] = []
        self._size = 0

    def take(self, number: int, line: Record, size: int) -> None:
        """The next line; `size` in bytes."""
        if "tarmac_export" in line:
            self.finish()
            self._header = line
        elif "log" in line:
            if not self._dry_run:
                self._logs.append(line["log"])
        else:
            if self._logs or self._size + size > PART_BYTES or len(self._lines) >= LINES:
                self.finish()
            self._lines.append({"line": number, "record": line})
        self._size += size
        if self._size > PART_BYTES:
            self.finish()

    def finish(self) -> None:
        """Send what was taken."""
        if self._lines or (self._header and self._dry_run):
            body = {"header": self._header, "lines": self._lines, "above": self._above, "dry_run": self._dry_run}
            self._remember(self.client.call("POST", "/history/import", body=body, within_s=IMPORT_S)["jobs"])
        for log in self._logs:
            self._send(log)
        self._lines, self._logs, self._size = [], [], 0

    def _remember(self, jobs: Sequence[Mapping[str, Any]]) -> None:
        if jobs:
            numbers = [line["record"]["job"]["id"] for line in self._lines]
            self._ids = dict(zip(numbers, [job["id"] for job in jobs], strict=True))
        self.added += sum(job["new"] for job in jobs)
        self.known += sum(not job["new"] for job in jobs)

    def _send(self, log: Record) -> None:
        from tarmac.errors import Conflict

        number = self._ids.get(log["job"])
        if number is None:
            return
        try:
            self.client.call("POST", "/history/import/log", body={**log, "job": number}, within_s=IMPORT_S)
            self.logs += 1
        except Conflict:
            pass  # the job was submitted here, and has its own log
