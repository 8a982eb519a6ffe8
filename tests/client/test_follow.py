"""Following output from one attempt of a job to the next, and waiting for the end of many jobs."""

from collections.abc import Iterator
from typing import Any

import pytest

from tarmac.client.follow import ended_jobs, log_bytes
from tarmac.errors import NotFound


class Output:
    """A response with the output of one attempt."""

    def __init__(self, text: bytes, attempt: int) -> None:
        self.fields = {"tarmac-log-attempt": str(attempt), "tarmac-log-path": f"/logs/1.{attempt}.log"}
        self._text = text

    def chunks(self) -> Iterator[bytes]:
        yield self._text

    def close(self) -> None:
        pass


class Controller:
    """Two attempts, both over before the follower asks for the job."""

    start = was_reached = repeats = True

    def __init__(self) -> None:
        self.attempts = [Output(b"one\n", 1)]

    def stream(self, _: str, query: dict[str, object]) -> Output:
        return self.attempts[-1]

    def call(self, *_: object) -> dict[str, Any]:
        self.attempts.append(Output(b"two\n", 2))
        return {"id": 1, "state": "succeeded", "attempt": 2, "ended_at": "2027-01-15T09:30:00.000Z"}


def test_an_attempt_that_ended_before_it_was_followed_is_read() -> None:
    output = log_bytes(Controller(), 1, follow=True, lines=None, stream="stdout")  # type: ignore[arg-type]
    assert b"".join(output) == b"one\ntwo\n"


def test_the_headers_of_the_answer_are_decoded() -> None:
    controller, begun = Controller(), dict[str, str]()
    controller.attempts[0].fields["tarmac-log-path"] = "/logs/gr%C3%B6%C3%9Fe 100%25"
    output = log_bytes(controller, 1, follow=False, lines=None, stream="stdout", on_begin=begun.update)  # type: ignore[arg-type]
    assert b"".join(output) == b"one\n"
    assert begun["tarmac-log-path"] == "/logs/größe 100%"


class Waited:
    """Answers about all jobs but those that were removed. One job ends only in the second answer."""

    answer_s = 5.0
    start = was_reached = repeats = True

    def __init__(self, *, late: int = 0, removed: int = 0) -> None:
        self.asked: list[str] = []
        self._late, self._removed = late, removed

    def call(self, _: str, path: str, *, query: dict[str, Any] | None = None, **__: object) -> dict[str, Any]:
        if query is None:
            raise NotFound(f"no job {path.rpartition('/')[2]}", "")
        self.asked.append(query["ids"])
        spans = [word.split("-") for word in query["ids"].split(",")]
        ids = [number for span in spans for number in range(int(span[0]), int(span[-1]) + 1)]
        pending = [number for number in ids if number == self._late and len(self.asked) == 1]
        ended = [number for number in ids if number not in {*pending, self._removed}]
        return {"jobs": [{"id": number, "state": "succeeded"} for number in ended], "pending": pending}


def waited(controller: Waited, ids: list[int]) -> list[int]:
    return [job.id for job in ended_jobs(controller, ids)]  # type: ignore[arg-type]


def test_consecutive_jobs_are_awaited_as_ranges() -> None:
    controller, ids = Waited(late=7), [*range(1, 10_001), 20_000, *range(30_000, 30_003)]
    assert sorted(waited(controller, ids)) == ids
    assert controller.asked == ["1-10000", "7", "20000,30000-30002"]


def test_scattered_jobs_make_a_short_address() -> None:
    controller, ids = Waited(), list(range(1, 2400, 2))
    assert waited(controller, ids) == ids
    assert [len(words.split(",")) for words in controller.asked] == [500, 500, 200]


def test_a_job_of_a_range_that_was_removed_is_not_awaited_forever() -> None:
    with pytest.raises(NotFound, match="no job 5"):
        waited(Waited(removed=5), list(range(1, 9)))
