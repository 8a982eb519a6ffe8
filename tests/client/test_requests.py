import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tarmac.cli.main import run_line
from tarmac.client.requests import submission
from tarmac.errors import UserError


def sent(request: Any) -> dict[str, Any]:
    job: dict[str, Any] = submission([request], {}, 0o22, "token")["jobs"][0]
    return job


def test_a_shell_string_may_be_given_as_shell() -> None:
    assert sent({"shell": "a | b"})["shell"] == sent({"command": "a | b"})["shell"] == "a | b"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"command": ["true"], "shell": "true"}, "both"),
        ({}, "neither"),
        ({"command": [1, 2]}, "1 in the command"),
        ({"command": 7}, "7 is not a command"),
        ({"shell": ["x"]}, "not a command"),
        ({"command": ["true"], "gpus": "2"}, "gpus is '2'"),
    ],
)
def test_an_invalid_job_is_refused_by_name(request_: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        sent(request_)


def test_doctor_checks_the_database_when_no_controller_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TARMAC_HOME", str(tmp_path))
    path = tmp_path / "tarmac.db"
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE jobs (id); INSERT INTO jobs VALUES (1);")
    connection.close()
    run_line(["doctor"])
    assert "✓ database" in capfd.readouterr().out
    path.write_bytes(path.read_bytes()[:4096] + b"nonsense" * 512)
    assert run_line(["doctor"]) == 1
    assert "✗ database" in capfd.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["tarmac.db"]
