"""Metrics in logs and JSON files."""

from __future__ import annotations

import json
import signal
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tarmac.agent.files import metrics
from tarmac.agent.files.metrics import find_metrics


def found(*files: dict[str, Any], patterns: tuple[str, ...] = (), keys: tuple[str, ...] = (), **more: Any) -> list[Any]:
    """All answers, asked for until nothing is left."""
    left, place, answers = list(files), None, []
    while left:
        request: Any = {
            "type": "find_metrics",
            "patterns": [{"pattern": one, "group": 1} for one in patterns],
            "keys": list(keys),
            "files": left,
            "place": place,
        }
        answer = find_metrics(request, more.get("reach", lambda _: None))
        answers += answer["found"]
        left, place = left[len(answer["found"]) :], json.loads(json.dumps(answer["place"]))
    return answers


def a_log(path: Path, data: bytes) -> dict[str, Any]:
    path.write_bytes(data)
    return {"paths": [str(path)], "json": None}


def value(path: Path, data: bytes, pattern: str = r"acc=([\d.]+)") -> str | None:
    (answer,) = found(a_log(path, data), patterns=(pattern,))
    return answer["values"][0]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("data", "last"),
    [
        (b"acc=0.1\nacc=0.25\nend\n", "0.25"),
        (b"acc=0.1", "0.1"),
        (b"acc=0.1\racc=0.2\r", "0.2"),
        (b"acc=\x1b[32m0.3\x1b[0m\n", "0.3"),
        (b"acc=\x1b]0;title\x07\x1b[4:3m0.35\x1b[0m\n", "0.35"),
        (b"\xff\xfe acc=0.4\n", "0.4"),
        ("ü acc=0.5\n".encode(), "0.5"),
        (b"", None),
        (b"loss=1\n", None),
    ],
)
def test_the_last_match_counts(tmp_path: Path, data: bytes, last: str | None) -> None:
    assert value(tmp_path / "log", data) == last


@pytest.mark.parametrize("before", [0, 1, 90, 99, 100, 101, 250, 1000])
def test_a_match_is_found_wherever_blocks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(metrics, "_BLOCK", 100)
    monkeypatch.setattr(metrics, "_OVERLAP", 40)
    for filler in (b"line\n", b"x"):
        data = (filler * 300)[:before] + b"\nacc=0.123456789\n" + (filler * 300)[:before]
        assert value(tmp_path / "log", data) == "0.123456789"
    assert value(tmp_path / "log", b"x" * before + b" acc=0.5 " + b"y" * before) == "0.5"


def test_several_patterns_are_found_at_different_places_and_in_both_streams(tmp_path: Path) -> None:
    stdout, stderr = (
        a_log(tmp_path / "out", b"a=1\n" + b"-\n" * 1000 + b"b=2\n"),
        a_log(tmp_path / "err", b"c=3\na=9\n"),
    )
    both = {"paths": [*stdout["paths"], *stderr["paths"], str(tmp_path / "missing")], "json": None}
    (answer,) = found(both, patterns=("a=(.)", "b=(.)", "c=(.)", "d=(.)"))
    assert answer["values"] == ["1", "2", "3", None]


def test_a_long_search_is_cut_into_several_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_BLOCK", 1000)
    monkeypatch.setattr(metrics, "_BUDGET_S", -1.0)  # one block for each question
    files = [a_log(tmp_path / str(number), b"acc=%d\n" % number + b"line\n" * 1000) for number in range(3)]
    asked = []
    answers = found(*files, patterns=("acc=(.)",), reach=asked.append)
    assert [answer["values"] for answer in answers] == [["0"], ["1"], ["2"]]
    assert len(asked) > 10


def test_a_large_log_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as log:
        log.write(b"acc=1\n")
        log.truncate(100 << 20)
    tracemalloc.start()
    (answer,) = found({"paths": [str(path)], "json": None}, patterns=("acc=(.)",))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer["values"] == ["1"]
    assert peak < 20 << 20


def test_a_file_system_that_hangs_leaves_the_values_empty(tmp_path: Path) -> None:
    def hangs(_: str) -> None:
        raise OSError("/mnt does not answer")

    (answer,) = found({"paths": ["/mnt/x"], "json": "/mnt/y"}, patterns=("(.)",), reach=hangs)
    assert answer == {"values": [None], "json": {}}


@pytest.mark.parametrize(
    ("text", "keys", "values"),
    [
        ('{"val": {"acc": 0.5}, "name": "x", "ok": true, "no": null}', (), {"val.acc": 0.5, "name": "x", "ok": True}),
        ('{"val": {"acc": 0.5}}', ("val.acc", "val.loss"), {"val.acc": 0.5}),
        ('{"top": [0.1, 0.2]}', ("top.1",), {"top.1": 0.2}),
        ('{"acc": 0.1}\n{"acc": 0.2}\n', ("acc",), {"acc": 0.2}),
        ('{"acc": NaN}', ("acc",), {"acc": "NaN"}),
        ("no json", (), {}),
        ("[" * 100000, (), {}),
        ("3", (), {}),
    ],
)  # fmt: skip
def test_values_of_a_json_file(tmp_path: Path, text: str, keys: tuple[str, ...], values: dict[str, Any]) -> None:
    (tmp_path / "m.json").write_text(text)
    (answer,) = found({"paths": [], "json": str(tmp_path / "m.json")}, keys=keys)
    assert answer["json"] == values


def test_a_pattern_that_takes_forever_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_MOST_CPU_S", 0.05)
    file = a_log(tmp_path / "log", b"a" * 40 + b"!\n")
    request: Any = {"type": "find_metrics", "keys": [], "files": [file], "place": None}
    slow = find_metrics({**request, "patterns": [{"pattern": "(a+)+x", "group": 1}]}, lambda _: None)
    assert (slow["is_too_slow"], slow["found"]) == (True, [])
    quick = find_metrics({**request, "patterns": [{"pattern": "(a+)", "group": 1}]}, lambda _: None)
    assert (quick.get("is_too_slow"), quick["found"][0]["values"]) == (None, ["a" * 40])


def test_a_slow_pattern_is_interrupted_on_a_busy_machine_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the search gets little of the CPU, the time on the clock counts."""
    monkeypatch.setattr(metrics, "_MOST_CPU_S", 1000.0)
    monkeypatch.setattr(metrics, "_MOST_MATCHING_S", 0.05)
    file = a_log(tmp_path / "log", b"a" * 40 + b"!\n")
    patterns: list[Any] = [{"pattern": "(a+)+x", "group": 1}]
    slow = find_metrics(
        {"type": "find_metrics", "keys": [], "files": [file], "place": None, "patterns": patterns}, lambda _: None
    )
    assert (slow["is_too_slow"], slow["found"]) == (True, [])
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
