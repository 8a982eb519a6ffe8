"""A real controller in a throw-away home, addressed with plain HTTP as any other program would."""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.api.answer_types import check_answer
from tests.home import Home

DEADLINE_S = 20.0
LARGE_DEADLINE_S = 120.0  # for requests about a hundred thousand jobs, on a busy machine


class UnixHttp(http.client.HTTPConnection):
    def __init__(self, path: Path, deadline_s: float = DEADLINE_S) -> None:
        super().__init__("tarmac", timeout=deadline_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Served:
    def __init__(self, home: Home) -> None:
        self.home = home.path
        self.client = home.client()
        self.client.start = True
        self._open: list[http.client.HTTPConnection | http.client.HTTPResponse] = []

    def connect(self) -> UnixHttp:
        """A connection for a stream; closed with the others."""
        connection = UnixHttp(self.home / "tarmac.sock")
        self._open.append(connection)
        return connection

    def get(self, path: str, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
        """An answer whose body has not been read."""
        connection = self.connect()
        connection.request("GET", "/api/v1" + path, headers=headers or {})
        answer = connection.getresponse()
        self._open.append(answer)
        return answer

    def close(self) -> None:
        while self._open:
            self._open.pop().close()

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> tuple[int, Any]:
        with closing(UnixHttp(self.home / "tarmac.sock", deadline_s)) as connection:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body)
            connection.request(method, "/api/v1" + path, data, {"Content-Type": "application/json", **(headers or {})})
            with connection.getresponse() as answer:
                text = answer.read()
        is_json = answer.headers.get_content_type().endswith("json")
        content = json.loads(text) if is_json else text
        check_answer(method, path, answer.status, content)
        return answer.status, content

    def submit(self, *jobs: dict[str, Any], **more: Any) -> tuple[int, Any]:
        world = {"cwd": str(self.home), "environment": {"PATH": os.environ["PATH"]}}
        return self.ask("POST", "/jobs", {**world, "jobs": list(jobs), **more}, deadline_s=LARGE_DEADLINE_S)

    def ids(self, *jobs: dict[str, Any], **more: Any) -> list[int]:
        status, answer = self.submit(*jobs, **more)
        assert status == 201, answer
        return answer["ids"]  # type: ignore[no-any-return]

    def until(self, job: int, *states: str) -> dict[str, Any]:
        """The job once it is in one of the states."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            _, seen = self.ask("GET", f"/jobs/{job}")
            if seen["state"] in states:
                return seen  # type: ignore[no-any-return]
            self.ask("GET", f"/jobs/wait?ids={job}&timeout_s=0.05")
        raise AssertionError(f"job {job} is {seen['state']}, not {states}")
