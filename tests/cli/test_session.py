import json
from pathlib import Path

import pytest

from tarmac.cli.main import run_line
from tarmac.cli.session import connect, silence
from tests.cli.stub import answer, serving

FULL = "Tarmac-Degraded: database or disk is full"


def test_a_write_failure_of_the_controller_is_reported_once(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    nothing = json.dumps({"waiting": [], "at_work": [], "ended": [], "groups": [], "next": None}).encode()
    queue = b'{"paused": false, "draining": false}'
    with serving(socket, *[answer(nothing, "200 OK", FULL)] * 3, answer(queue, "200 OK", FULL)):
        assert run_line(["ls"]) == 0
    assert capfd.readouterr().err.count("tarmac: the controller cannot write: database or disk is full\n") == 1


def test_a_request_about_many_jobs_is_not_said_to_hang() -> None:
    assert silence(0, 5, is_large=True) == [
        "tarmac: still waiting for the controller after 5 s; a request about many jobs takes a while"
    ]
    assert silence(0, 5) == ["tarmac: the controller has not answered for 5 s; still waiting"]


@pytest.mark.parametrize(
    ("ids", "filters", "is_large"), [((), {"group": "huge"}, True), (("1-100000",), {}, True), (("1",), {}, False)]
)
def test_requests_that_select_jobs_are_about_many(
    ids: tuple[str, ...], filters: dict[str, str], is_large: bool, socket: Path
) -> None:
    with serving(socket, answer(b'{"jobs": []}')):
        client = connect(start=False)
        client.change("/jobs/hold", {"ids": list(ids), **filters})
    assert client.is_large is is_large
