"""The table of attempts in `tarmac show`, and the attempt in `tarmac ls`."""

from typing import Any

import pytest

from tarmac.cli.render.job import starts, state_and_attempt
from tarmac.cli.render.show.attempts import attempt_table
from tarmac.client.records import Job
from tarmac.shared.clocks import epoch

STARTED = "2027-01-15T09:30:00.000Z"


def an_attempt(number: int, state: str = "failed", **more: Any) -> dict[str, Any]:
    told = {
        "attempt": number,
        "state": state,
        "reason": "exit" if state == "failed" else None,
        "exit_code": 3 if state == "failed" else None,
        "signal": None,
        "node": "box",
        "gpus": [{"node": "box", "index": 1, "uuid": "g1", "name": "1"}],
        "started_at": STARTED,
        "ended_at": STARTED,
        "elapsed_s": 60.0,
        "peak_gpu_memory_bytes": 3 << 30,
        "log_path": "/logs/7.1.log",
        "message": None,
        "error_line": None,
    }
    return {**told, **more}


def table(*attempts: dict[str, Any], width: int | None = None, state: str = "running") -> list[list[str]]:
    job = Job({"id": 7, "state": state, "attempts": list(attempts)})
    return [line.split() for line in attempt_table(job, width=width, has_colours=False)]


def test_each_attempt_has_a_line() -> None:
    oom = an_attempt(2, reason="oom-gpu", error_line="CUDA out of memory")
    running = an_attempt(3, "running", gpus=[], started_at=None, elapsed_s=None, peak_gpu_memory_bytes=None)
    head, first, second, third = table(an_attempt(1), oom, running)
    assert head == ["ATTEMPT", "STATE", "GPUS", "STARTED", "TIME", "PEAK", "ERROR"]
    assert first[:5] == ["1", "failed", "(exit", "3)", "1"]
    assert first[-2:] == ["1m00s", "3.0G"]
    assert second[:3] == ["2", "failed", "(oom-gpu)"]
    assert " ".join(second).endswith("CUDA out of memory")
    assert third == ["3", "running", "-", "-", "-", "-"]


def test_a_narrow_terminal_has_room_for_what_matters() -> None:
    lines = table(an_attempt(1, error_line="x" * 200), an_attempt(2), width=60)
    assert lines[0][:3] == ["ATTEMPT", "STATE", "GPUS"]
    assert "ERROR" in lines[0]


def test_a_job_that_waits_for_its_next_attempt_shows_the_first() -> None:
    assert [line[0] for line in table(an_attempt(1), state="queued")] == ["ATTEMPT", "1"]


def test_a_single_attempt_needs_no_table() -> None:
    assert table(an_attempt(1)) == table() == []
    assert attempt_table(Job({"id": 7, "state": "queued"}), width=None, has_colours=False) == []


@pytest.mark.parametrize(
    ("state", "attempt", "attempts_max", "words"),
    [
        ("running", 1, 4, "running 1/4"),
        ("running", 2, 4, "running 2/4"),
        ("queued", 1, 4, "queued 2/4"),
        ("queued", 0, 4, "queued 1/4"),
        ("succeeded", 2, 4, "succeeded 2/4"),
        ("running", 2, None, "running, attempt 2"),
        ("running", 1, None, "running"),
        ("succeeded", 2, None, "succeeded"),
    ],
)
def test_ls_shows_the_attempt_of_a_job_that_is_retried(
    state: str, attempt: int, attempts_max: int | None, words: str
) -> None:
    assert state_and_attempt(Job({"state": state, "attempt": attempt, "attempts_max": attempts_max})) == words


def test_ls_shows_when_the_next_attempt_starts() -> None:
    waiting = Job({"state": "queued", "retry_at": STARTED, "estimated_start": STARTED})
    assert starts(waiting, epoch(STARTED) - 40) == "retry in 40s"
    assert "retry" not in starts(waiting, epoch(STARTED) + 1)


def test_the_middle_of_many_attempts_is_left_out() -> None:
    rows = table(*[an_attempt(number) for number in range(1, 331)])
    assert [row[0] for row in rows[1:8]] == ["1", "2", "3", "4", "5", "…", "311"]
    assert " ".join(rows[6]) == "… 305 more attempts; `tarmac show 7 --json` lists all"
    assert (len(rows), rows[-1][0]) == (27, "330")
