"""Scheduling options: the requests they send, and what is refused before a request."""

import json
from pathlib import Path
from time import time
from typing import Any

import pytest

from tarmac.cli.main import run_line
from tarmac.typed.values import dependencies, indices, signal
from tests.cli.stub import answer, asked, serving


def sent(socket: Path, *argv: str, ids: list[int] | None = None, before: tuple[bytes, ...] = ()) -> dict[str, Any]:
    """The body of the submit for these arguments."""
    with serving(socket, *before, answer(json.dumps({"ids": ids or [7]}).encode(), "201 Created")) as stub:
        assert run_line(["add", *argv, "true"]) == 0
    body = asked(stub)[-1][1]
    assert isinstance(body, dict)
    return body


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        (["--time", "6h"], {"time_limit_s": 21600}),
        (["--tier", "preemptible"], {"tier": "preemptible"}),
        (["--tier", "URGENT"], {"tier": "urgent"}),
        (["--signal", "USR1"], {"signal": 10}),
        (["--after", "7"], {"after": ["7:ok"]}),
        (["--after", "7:any,8:fail", "--after", "9"], {"after": ["7:any", "8:fail", "9:ok"]}),
        (["--after", "3-5:any"], {"after": ["3:any", "4:any", "5:any"]}),
    ],
)
def test_what_is_sent(socket: Path, words: list[str], fields: dict[str, object]) -> None:
    body = sent(socket, *words)
    assert fields.items() <= body["jobs"][0].items()
    assert "group" not in body
    assert "entry" not in body


def test_a_plain_job_sends_no_scheduling_options(socket: Path) -> None:
    [job] = sent(socket)["jobs"]
    assert not {"time_limit_s", "begin_at", "after", "tier", "signal", "max_running"} & set(job)


def test_a_begin_time_is_sent_as_seconds_since_1970(socket: Path) -> None:
    [job] = sent(socket, "--begin", "in 3h")["jobs"]
    assert abs(job["begin_at"] - time() - 3 * 3600) < 60


def test_after_last_is_the_newest_job(socket: Path) -> None:
    newest = answer(b'{"jobs": [{"id": 41}], "next": null}')
    assert sent(socket, "--after", "last:any", before=(newest,))["jobs"][0]["after"] == ["41:any"]


@pytest.mark.parametrize(("flag", "entry"), [("--hold", "held"), ("--draft", "draft")])
def test_hold_and_draft_set_the_entry(socket: Path, flag: str, entry: str) -> None:
    assert sent(socket, flag)["entry"] == entry


def test_an_array_is_many_jobs_and_prints_its_range(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = sent(socket, "--array", "0-2", "--max-running", "2", ids=[7, 8, 9])
    assert body["group"] == {"kind": "array", "name": None, "indices": "0-2"}
    assert [job["max_running"] for job in body["jobs"]] == [2]
    assert capfd.readouterr() == ("7-9\n", "")


def test_an_array_of_one_prints_one_id(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert sent(socket, "--array", "1")["group"]["indices"] == "0-0"
    assert capfd.readouterr().out == "7\n"


def test_json_has_every_id_of_an_array(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sent(socket, "--array", "2", "--json", ids=[7, 8])
    assert json.loads(capfd.readouterr().out) == {"id": 7, "ids": [7, 8]}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("add --time 90 true", "which unit? 90m is minutes"),
        ("add --time soon true", "it must be a duration"),
        ("add --begin 2020-01-01 true", "ago"),
        ("add --tier high true", "one of urgent, normal, preemptible"),
        ("add --after 7:done true", "write ok, fail or any after the colon, not done"),
        ("add --after afterok:7 true", "ok, fail or any"),
        ("add --after x true", "is not a job id"),
        ("add --after , true", "it must be a job"),
        ("add --after 5-3 true", "is not a range of jobs"),
        ("add --after 1-99999 true", "at most 10,000 others"),
        ("add --array 9-5 true", "write 5-9"),
        ("add --array 1,1 true", "index 1 is given twice"),
        ("add --array 1:2 true", "it must be indices"),
        ("add --array 0-99%0 true", "how many jobs may run at once"),
        ("add --array 0-9%2 --max-running 3 true", "--array says %2, --max-running says 3"),
        ("add --array 0 true", "from 1 to 1,000,000"),
        ("add --max-running 2 true", "needs --array"),
        ("add --hold --draft true", "exclude each other"),
        ("add --signal KILL true", "--grace 0"),
        ("add --signal 65 true", "a signal, such as"),
        ("add --signal _IGN true", "a signal, such as"),
        ("run --array 3 true", "starts many jobs"),
        ("run --max-running 3 true", "is for arrays"),
        ("run --hold true", "wait for a release"),
        ("run --draft true", "does not run yet"),
    ],
)
def test_what_is_refused_without_a_controller(
    socket: Path, capfd: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    assert run_line(line.split()) == 2
    message, _, hint = capfd.readouterr().err.partition("\n")
    assert said in message
    assert hint


@pytest.mark.parametrize(("word", "number"), [("USR1", 10), ("sigint", 2), ("10", 10), ("64", 64)])
def test_a_signal_has_a_name_or_a_number(word: str, number: int) -> None:
    assert signal(word) == number


@pytest.mark.parametrize(
    ("word", "text", "most"),
    [
        ("100", "0-99", None),
        ("5-9", "5-9", None),
        ("1-10:2", "1-10:2", None),
        ("1,3,5%2", "1,3,5", 2),
        ("8%2", "0-7", 2),
    ],
)
def test_the_indices_of_an_array_may_end_with_a_limit(word: str, text: str, most: int | None) -> None:
    found = indices(word)
    assert (found.text, found.max_running) == (text, most)


def test_the_limit_behind_the_indices_is_sent_as_max_running(socket: Path) -> None:
    assert sent(socket, "--array", "0-99%8")["jobs"][0]["max_running"] == 8


def test_dependencies_are_separated_by_commas_or_spaces() -> None:
    assert dependencies("7, 8:any") == ["7:ok", "8:any"]


@pytest.mark.parametrize("verb", ["add", "edit 7"])
def test_none_is_not_combined_with_targets(capfd: pytest.CaptureFixture[str], verb: str) -> None:
    line = [*verb.split(), "--notify", "none", "--notify", "mail", *(["true"] if verb == "add" else [])]
    assert run_line(line) == 2
    assert "none cannot be combined" in capfd.readouterr().err


@pytest.mark.parametrize("words", [["--snapshot", "--no-snapshot"], ["--no-snapshot", "--link", "data"]])
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_contradictions_about_the_snapshot_are_refused(
    socket: Path, capfd: pytest.CaptureFixture[str], words: list[str], more: list[str]
) -> None:
    assert run_line(["add", *words, *more, "true"]) == 2
    assert "--no-snapshot" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("array", "last"),
    [("0-9,20-28:2%8", "15 jobs, indices 0-9,20-28:2, at most 8 at once"), ("1", "1 job, indices 0-0")],
)
def test_a_dry_run_of_an_array_tells_its_size(
    socket: Path, capfd: pytest.CaptureFixture[str], array: str, last: str
) -> None:
    with serving(socket, answer(b'{"ids": []}')):
        assert run_line(["add", "-g", "0", "--array", array, "--dry-run", "true"]) == 0
    assert capfd.readouterr().out.splitlines()[1:] == [last]


def test_a_dry_run_of_an_array_as_json(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, answer(b'{"ids": []}')):
        assert run_line(["add", "--array", "0-9%8", "--dry-run", "--json", "true"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["array"], found["max_running"]) == ("0-9", 8)
