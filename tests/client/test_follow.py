"""Following output from one attempt of a job to the next."""

from collections.abc import Iterator
from typing import Any

from tarmac.client.follow import log_bytes


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
