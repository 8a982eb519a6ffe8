"""The notice of the admins, over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.served import Served


@pytest.fixture(autouse=True)
def _cleared(api: Served) -> Iterator[None]:
    yield
    api.ask("DELETE", "/notice")


def test_the_first_notice_is_empty(api: Served) -> None:
    assert api.ask("GET", "/notice") == (200, {"notice": None})
    assert api.ask("GET", "/queue")[1]["notice"] is None
    assert api.ask("GET", "/gpus")[1]["notice"] is None


def test_a_notice_is_served_with_the_queue_and_the_gpus(api: Served) -> None:
    status, answer = api.ask("PUT", "/notice", {"text": " driver update at 18:00\n"})
    assert status == 200
    assert answer["notice"]["text"] == "driver update at 18:00"
    assert answer["notice"]["by"]
    assert answer["notice"]["at"]
    assert api.ask("GET", "/notice")[1] == answer
    assert api.ask("GET", "/queue")[1]["notice"] == answer["notice"]
    assert api.ask("GET", "/gpus")[1]["notice"] == answer["notice"]


def test_a_second_notice_replaces_the_first_and_can_be_cleared(api: Served) -> None:
    api.ask("PUT", "/notice", {"text": "one"})
    api.ask("PUT", "/notice", {"text": "two"})
    assert api.ask("GET", "/notice")[1]["notice"]["text"] == "two"
    assert api.ask("DELETE", "/notice") == (200, {"notice": None})
    assert api.ask("DELETE", "/notice") == (200, {"notice": None})
    assert api.ask("GET", "/queue")[1]["notice"] is None


@pytest.mark.parametrize("text", ["", "  \n", "x" * 1001, 7])
def test_a_bad_notice_is_refused_and_the_last_one_stays(api: Served, text: object) -> None:
    api.ask("PUT", "/notice", {"text": "stays"})
    assert api.ask("PUT", "/notice", {"text": text})[0] == 400
    assert api.ask("GET", "/notice")[1]["notice"]["text"] == "stays"


def test_a_repeated_request_is_carried_out_once(api: Served) -> None:
    key = {"Idempotency-Key": "one"}
    first = api.ask("PUT", "/notice", {"text": "one"}, key)[1]
    api.ask("PUT", "/notice", {"text": "two"})
    assert api.ask("PUT", "/notice", {"text": "one"}, key)[1]["notice"]["text"] == "two"
    assert first["notice"]["text"] == "one"


def test_event_streams_learn_of_a_notice(api: Served, tmp_path: Path) -> None:
    stream = api.get("/events")
    api.ask("PUT", "/notice", {"text": "driver update"})
    seen = b""
    while b"driver update" not in seen:
        line = stream.readline()
        assert line, seen
        seen += line
    assert b"event: queue" in seen
    api.close()
