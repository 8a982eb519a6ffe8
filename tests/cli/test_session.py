import json
from pathlib import Path

import pytest

from tarmac.cli.main import run_line
from tests.cli.stub import answer, serving

FULL = "Tarmac-Degraded: database or disk is full"


def test_a_write_failure_of_the_controller_is_reported_once(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    nothing = json.dumps({"jobs": [], "next": None}).encode()
    queue = b'{"paused": false, "draining": false}'
    with serving(socket, *[answer(nothing, "200 OK", FULL)] * 3, answer(queue, "200 OK", FULL)):
        assert run_line(["ls"]) == 0
    assert capfd.readouterr().err.count("tarmac: the controller cannot write: database or disk is full\n") == 1
