"""The history of a job in `tarmac show`."""

from typing import Any

import pytest

from tarmac.cli.render.show.story import FIRST, LAST, story


def test_the_history_names_events_as_users_do() -> None:
    kinds = ("Decided", "LaunchFailed", "StopAsked")
    title, *lines = story(
        7, [{"id": 1, "at": "2026-01-01T10:00:00.000Z", "attempt": 1, "kind": kind, "detail": {}} for kind in kinds]
    )
    assert title == "History"
    assert [line.split("  ")[-1] for line in lines] == ["scheduled", "launch failed", "stop requested"]


def test_the_middle_of_a_long_history_is_left_out() -> None:
    events: Any = [{"at": "2027-01-15T09:30:00.000Z", "kind": f"Kind{n}", "detail": {}} for n in range(500)]
    lines = story(7, events)
    assert len(lines) == 2 + FIRST + LAST
    assert lines[1 + FIRST] == f"  … {500 - FIRST - LAST} more events, in the API: GET /jobs/7/events"
    assert (lines[FIRST].split()[-1], lines[2 + FIRST].split()[-1]) == (f"kind{FIRST - 1}", f"kind{500 - LAST}")
    assert lines[-1].split()[-1] == "kind499"
    assert len(story(7, events[: FIRST + LAST])) == 1 + FIRST + LAST


@pytest.mark.parametrize(
    ("kind", "detail", "words"),
    [
        (
            "RequestGrown",
            {"gpu_memory_bytes": 10 << 30, "memory_bytes": 0, "is_whole_gpu": False},
            "to 10.0G of each GPU",
        ),
        ("RequestGrown", {"gpu_memory_bytes": None, "is_whole_gpu": True}, "to whole GPUs"),
        ("RequestGrown", {"gpu_memory_bytes": None, "memory_bytes": 32 << 30}, "to 32.0G of host memory"),
        ("JobLost", {"processes_left": True}, "processes left"),
        ("JobLost", {"processes_left": False}, ""),
        ("JobsPaused", {"by": "ann", "time_limit_continues": True}, "by ann, time limit continues"),
    ],
)
def test_the_history_has_words_and_no_raw_fields(kind: str, detail: dict[str, Any], words: str) -> None:
    event: Any = {"at": "2027-01-15T09:30:00.000Z", "kind": kind, "detail": detail}
    assert story(7, [event])[1].endswith(words or "job lost")
