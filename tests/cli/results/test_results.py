"""`tarmac results`: names of metrics, their order, and how they are printed and drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tarmac.cli.main import run_line
from tarmac.cli.results.asked import asked_metrics, is_json_file
from tarmac.cli.results.bars import bars
from tarmac.cli.results.rows import sorting_metric
from tarmac.cli.results.svg import picture
from tarmac.errors import UserError
from tarmac.shared.tables.results import best_first, columns_of, is_smaller_better
from tests.cli.stub import answer, asked, serving


def a_job(number: int, acc: float | str | None, **params: str) -> Any:
    return {"id": number, "name": None, "state": "running", "index": None, "params": params, "metrics": {"acc": acc}}


JOBS = [
    a_job(1, 0.5, lr="1e-3", opt="adam"),
    a_job(2, None, lr="1e-2", opt="adam"),
    a_job(3, 0.75, lr="1e-1", opt="<b>"),
    a_job(4, "nan", lr="1", opt="adam"),
]
ANSWER: Any = {"group": None, "metrics": ["acc"], "jobs": JOBS, "unread": []}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (r"acc=([\d.]+)", [("acc", 1)]),
        (r"val loss:\s*(\S+)", [("val loss", 1)]),
        (r"[\d.]+", [(r"[\d.]+", 0)]),
        (r"(?P<top1>\S+) (?P<top5>\S+) top", [("top1", "top1"), ("top5", "top5")]),
        (r"(\d+) steps", [(r"(\d+) steps", 1)]),
    ],
)
def test_a_metric_is_named_by_its_groups_or_the_text_before_its_sign(pattern: str, names: list[Any]) -> None:
    metrics = asked_metrics([pattern], None)["metrics"]
    assert [(metric["name"], metric.get("group")) for metric in metrics] == names


def test_with_a_file_a_plain_word_is_a_key() -> None:
    found = asked_metrics(["val.acc", "loss=(.)"], "m.json")
    assert (found["keys"], [metric["name"] for metric in found["metrics"]]) == (["val.acc"], ["loss"])


@pytest.mark.parametrize(
    ("patterns", "says"),
    [
        ([], "no metric"),
        (["a=(.)", "a=(..)"], "two metrics are named a"),
        ([""], "--metric is empty"),
        ([r"acc=[\d.]+"], r"--metric 'acc=\[\\d\.\]\+' does not say which part is the value"),
    ],
)
def test_what_is_refused(patterns: list[str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        asked_metrics(patterns, None)


def test_the_best_is_first_texts_follow_and_jobs_without_a_value_are_last() -> None:
    assert [job["id"] for job in best_first(JOBS, "acc", smaller_first=False)] == [3, 1, 4, 2]
    assert [job["id"] for job in best_first(JOBS, "acc", smaller_first=True)] == [1, 3, 4, 2]


def test_a_loss_is_better_when_it_is_smaller() -> None:
    assert all(map(is_smaller_better, ("val_loss", "loss", "top1.error", "valLoss")))
    assert not any(map(is_smaller_better, ("acc", "glossy", "f1")))


def test_an_unknown_metric_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError) as refused:
        sorting_metric(ANSWER, "ac")
    assert refused.value.hint == "did you mean acc?"


def test_parameters_and_metrics_are_columns() -> None:
    assert list(columns_of(ANSWER["metrics"], JOBS)) == ["id", "state", "lr", "opt", "acc"]
    assert columns_of(ANSWER["metrics"], JOBS)["acc"] == ["0.5", "", "0.75", "nan"]


def test_bars_fit_the_terminal_and_the_largest_value_is_longest() -> None:
    lines = bars(best_first(JOBS, "acc", smaller_first=False), "acc", 60)
    assert lines[0] == "acc"
    assert all(len(line) <= 60 for line in lines)
    assert [line.count("█") for line in lines[1:]] == sorted((line.count("█") for line in lines[1:]), reverse=True)
    assert bars([a_job(1, None)], "acc", 60) == ["no job has a number for acc"]


@pytest.mark.parametrize("jobs", [JOBS, [a_job(1, 1.0, x="a")], [a_job(1, None)], [a_job(1, 2.0), a_job(2, 2.0)]])
def test_the_picture_is_valid_and_has_a_point_for_each_number(jobs: list[Any]) -> None:
    root = ET.fromstring(picture(jobs, "acc", "a & b <c>"))
    titles = root.findall(".//{http://www.w3.org/2000/svg}circle/{http://www.w3.org/2000/svg}title")
    assert len(titles) == sum(isinstance(job["metrics"]["acc"], float) for job in jobs)


def test_the_word_after_json_is_a_file_or_a_group() -> None:
    assert all(map(is_json_file, ("m.json", "m.jsonl", "out/m")))
    assert not any(map(is_json_file, ("first", "7", "-m")))


def printed(
    socket: Path, capfd: pytest.CaptureFixture[str], *argv: str, given: Any = ANSWER
) -> tuple[str, dict[str, Any]]:
    with serving(socket, answer(json.dumps(given).encode())) as stub:
        assert run_line(["results", *argv]) == 0
    body = asked(stub)[-1][1]
    assert isinstance(body, dict)
    return capfd.readouterr().out, body


def test_a_word_is_a_group_and_the_table_is_sorted(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, body = printed(socket, capfd, "first", "-m", "acc=(.)")
    assert (body["group"], body["ids"]) == ("first", [])
    assert [line.split()[0] for line in text.splitlines()] == ["ID", "3", "1", "4", "2"]


@pytest.mark.parametrize(
    ("argv", "selected"),
    [
        (["-m", "a=(.)"], ("last", [])),
        (["3-7", "-m", "a=(.)"], (None, ["3-7"])),
        (["3", "4", "-m", "a=(.)"], (None, ["3", "4"])),
        (["--json", "7", "-m", "a=(.)"], ("7", [])),
        (["--group", "x", "--state", "failed", "-m", "a=(.)"], ("x", [])),
    ],
)
def test_which_jobs(socket: Path, capfd: pytest.CaptureFixture[str], argv: list[str], selected: Any) -> None:
    _, body = printed(socket, capfd, *argv)
    assert (body.get("group"), body["ids"]) == selected


def test_json_is_a_file_or_the_output_or_both(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, body = printed(socket, capfd, "first", "--json", "m.json", "--json")
    assert body["json"] == "m.json"
    assert [job["id"] for job in json.loads(text)["jobs"]] == [3, 1, 4, 2]


def test_csv_and_a_picture(socket: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text, _ = printed(socket, capfd, "first", "--json=m.json", "--csv", "--plot", str(tmp_path / "x.svg"))
    assert text.splitlines()[:2] == ["id,state,lr,opt,acc", "3,running,1e-1,<b>,0.75"]
    assert re.match("<svg ", (tmp_path / "x.svg").read_text())


def test_other_formats_than_svg_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_line(["results", "first", "-m", "acc=(.)", "--plot", "x.png"]) == 2
    assert "--plot writes SVG, not x.png" in capfd.readouterr().err


@pytest.mark.parametrize("flags", [("--json", "--csv"), ("--csv", "--plot"), ("--json", "--plot")])
def test_two_kinds_of_output_are_refused(flags: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run_line(["results", "-m", "acc=(.)", *flags]) == 2
    assert f"{flags[0]} and {flags[1]} exclude each other" in capfd.readouterr().err


def test_jobs_that_a_plot_leaves_out_are_counted(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, answer(json.dumps(ANSWER).encode())):
        assert run_line(["results", "first", "-m", "acc=(.)", "--plot"]) == 0
    assert "2 jobs without a number for acc are left out of the plot" in capfd.readouterr().err


def test_a_file_without_values_is_named(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    jobs = [{**job, "metrics": {}} for job in JOBS]
    with serving(socket, answer(json.dumps({**ANSWER, "metrics": [], "jobs": jobs}).encode())):
        assert run_line(["results", "first", "--json", "nosuch.json"]) == 0
    assert "no job has values in nosuch.json" in capfd.readouterr().err
