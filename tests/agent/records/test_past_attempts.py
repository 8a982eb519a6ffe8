"""Attempts whose records are gone are remembered, across agents."""

from pathlib import Path

import pytest

from tarmac.agent.records import past_attempts
from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.agent.records.past_attempts import PastAttempts
from tarmac.shared.frames.base import Origin

OURS: Origin = {"identity": "100.5", "body": ""}
THEIRS: Origin = {"identity": "200.5", "body": ""}


def test_an_attempt_is_known_to_the_next_agent(tmp_path: Path) -> None:
    PastAttempts(str(tmp_path)).add(AttemptKey(1, 1), OURS)
    again = PastAttempts(str(tmp_path))
    again.add(AttemptKey(2, 1), OURS)
    for past in (again, PastAttempts(str(tmp_path))):
        assert past.has(AttemptKey(1, 1), OURS)
        assert past.has(AttemptKey(2, 1), OURS)
        assert not past.has(AttemptKey(1, 2), OURS)
        assert not past.has(AttemptKey(1, 1), THEIRS), "a job with the same id, of another database"
        assert not past.has(AttemptKey(1, 1), None), "an older controller does not say which job it means"


def test_a_line_that_was_cut_short_costs_no_other(tmp_path: Path) -> None:
    PastAttempts(str(tmp_path)).add(AttemptKey(1, 1), OURS)
    (tmp_path / "past").write_bytes((tmp_path / "past").read_bytes() + b"\n2.1 10")
    PastAttempts(str(tmp_path)).add(AttemptKey(3, 1), OURS)
    past = PastAttempts(str(tmp_path))
    assert past.has(AttemptKey(1, 1), OURS)
    assert past.has(AttemptKey(3, 1), OURS)


def test_the_file_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_attempts, "MOST", 10)
    past = PastAttempts(str(tmp_path))
    for number in range(1, 101):
        past.add(AttemptKey(number, 1), OURS)
    assert (tmp_path / "past").read_text().count("\n") <= 20
    for known in (past, PastAttempts(str(tmp_path))):
        assert known.has(AttemptKey(100, 1), OURS)
        assert known.has(AttemptKey(91, 1), OURS)
    assert not past.has(AttemptKey(90, 1), OURS)
    assert (tmp_path / "past").stat().st_mode & 0o777 == 0o600


def test_an_unreadable_file_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "past").write_bytes(b"\xff\xfe\n")
    past = PastAttempts(str(tmp_path))
    past.add(AttemptKey(1, 1), OURS)
    assert past.has(AttemptKey(1, 1), OURS)
