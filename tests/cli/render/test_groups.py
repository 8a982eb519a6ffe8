"""Groups in lists: one line each, with what differs between their jobs."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.cli.render.commands import distinct_commands
from tarmac.cli.render.groups import bar, groups_table
from tarmac.client.records import Job


def a_group(**more: Any) -> Any:
    return {
        "id": 7, "kind": "sweep", "name": None, "command": "python train.py --lr {lr} --config some/long/path.yaml",
        "varies": "lr=1e-3,3e-4 seed=1,2,3", "count": 100, "ended": 40,
        "counts": {"running": 3, "queued": 57, "succeeded": 38, "failed": 2}, **more,
    }  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_line_fits_and_shows_what_differs(width: int) -> None:
    lines = groups_table([a_group(), a_group(id=1000, name="a long name of a sweep")], width=width, has_colours=False)
    assert all(len(line) <= width for line in lines)
    assert all("lr=1e-3,3e-4 seed=1,2,3" in line for line in lines[1:])
    assert all("40/100" in line for line in lines[1:])


def test_all_counts_are_shown_where_there_is_room() -> None:
    odd = a_group(counts={"held": 1, "unknown": 1, "paused": 2, "queued": 1000, "failed": 5}, count=1009, ended=6)
    head, line = groups_table([odd], width=160, has_colours=False)
    assert head.split() == ["GROUP", "KIND", "PROGRESS", "DONE", "RUN", "WAIT", "FAIL", "OTHER", "JOBS"]
    assert line.split()[2:9] == ["░░░░░░░░░░", "6/1,009", "2", "1,000", "5", "1", "held,"]


def test_held_jobs_are_counted_on_a_narrow_terminal() -> None:
    held = a_group(id=68123, name="a name", counts={"held": 36, "failed": 1}, count=37, ended=1)
    assert "36 held" in groups_table([held], width=80, has_colours=False)[1]


def test_removed_jobs_are_counted() -> None:
    rest = a_group(kind="array", varies="[0-59999]", count=60_000, counts={"cancelled": 40_000}, ended=40_000)
    head, line = groups_table([rest], width=160, has_colours=False)
    assert "OTHER" in head
    assert "40,000/40,000" in line
    assert "40,000 cancelled, 20,000 removed" in line


@pytest.mark.parametrize("counts", [{"held": 54}, {"held": 54, "running": 3}, {"held": 54, "running": 3, "queued": 1}])
def test_all_counts_come_before_the_kind(counts: dict[str, int]) -> None:
    head, line = groups_table(
        [a_group(counts=counts, count=sum(counts.values()), ended=0)], width=60, has_colours=False
    )
    assert "54 held" in line
    assert "KIND" not in head
    assert "RUN" in head or "running" not in counts


@pytest.mark.parametrize(("ended", "drawn"), [(0, "░░░░░"), (1, "░░░░░"), (50, "██░░░"), (99, "████░"), (100, "█████")])
def test_the_bar_is_full_only_when_all_have_ended(ended: int, drawn: str) -> None:
    assert bar(a_group(ended=ended, counts={"queued": 100 - ended, "failed": ended}), 5) == drawn


def test_a_group_whose_jobs_were_removed_has_a_full_bar() -> None:
    assert bar(a_group(ended=0, counts={}), 3) == "███"


def test_jobs_of_a_group_show_what_differs_first() -> None:
    words = ["python", "train.py", "--config", "c.yaml"]
    jobs = [
        Job({"command": [*words, "--lr", "1e-3"], "group": 1, "params": {"lr": "1e-3", "s": "a b", "e": ""}}),
        Job({"command": words, "group": 5, "params": {}, "index": 7}),
        Job({"command": [*words, "--seed", "1"], "group": 9, "params": {}}),
        Job({"command": [*words, "--seed", "2"], "group": 9, "params": {}}),
        Job({"command": words, "group": None, "params": {}}),
    ]
    assert distinct_commands(jobs) == [
        "lr=1e-3 s='a b' e=  python train.py --config c.yaml --lr 1e-3",
        "[7] python train.py --config c.yaml",
        "… 1",
        "… 2",
        "python train.py --config c.yaml",
    ]


def test_equal_commands_and_shell_strings_of_a_group_are_not_shortened() -> None:
    jobs = [Job({"command": ["sh", "-c", f"a {number}"], "group": 1}) for number in (1, 2)]
    jobs += [Job({"command": ["true", "x"], "group": 3})] * 2
    assert distinct_commands(jobs) == ["a 1", "a 2", "true x", "true x"]
