"""Messages of `tarmac log` beside the output."""

import pytest

from tarmac.cli.verbs.look import log


def test_what_is_left_out_is_said_once_per_job(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "SAID", set())
    for job in (7, 7, 8):
        log._say_once(job, log.CUT)
    assert capfd.readouterr().err == f"tarmac: {log.CUT}\n" * 2
