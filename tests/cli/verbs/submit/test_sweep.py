"""`tarmac sweep`: the requests it sends, what it prints, and what is refused before a request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tarmac.cli.main import run_line
from tests.cli.stub import answer, asked, serving


def sent(socket: Path, *argv: str, ids: list[int] | None = None) -> dict[str, Any]:
    with serving(socket, answer(json.dumps({"ids": ids or [7, 8]}).encode(), "201 Created")) as stub:
        assert run_line(["sweep", *argv]) == 0
    body = asked(stub)[-1][1]
    assert isinstance(body, dict)
    return body


def tried(socket: Path, *argv: str) -> dict[str, Any]:
    """What a dry run sends."""
    socket.unlink(missing_ok=True)  # of an earlier dry run
    with serving(socket, answer(b'{"ids": []}')) as stub:
        assert run_line([*argv, "--dry-run"]) == 0
    body = asked(stub)[-1][1]
    assert isinstance(body, dict)
    return body


def test_each_combination_is_a_job_of_one_group(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = sent(socket, "run --lr {lr} {s}", "lr=1e-3,3e-4", "s=a b,", "--max-running", "2", "--group", "first")
    assert body["group"] == {"kind": "sweep", "name": "first", "command": "run --lr {lr} {s}"}
    assert [job["command"] for job in body["jobs"]] == [
        ["run", "--lr", "1e-3", "a b"],
        ["run", "--lr", "1e-3"],
        ["run", "--lr", "3e-4", "a b"],
        ["run", "--lr", "3e-4"],
    ]
    assert body["jobs"][0]["params"] == {"lr": "1e-3", "s": "a b"}
    assert [job["max_running"] for job in body["jobs"]] == [2] * 4
    assert capfd.readouterr().out == "7-8\n"


def test_options_are_filled_in_and_read_for_each_job(socket: Path) -> None:
    options = ["--name", "n{g}-{t}", "-g", "{g}", "--time", "{t}", "--tag", "g{g}", "--env", "G={g}", "--cwd", "/{g}"]
    jobs = sent(socket, "run", "g=1,2", "t=1h,", *options, "--log", "o/{g}{{}}-{name}-{id}.log")["jobs"]
    assert [job["name"] for job in jobs] == ["n1-1h", "n1-", "n2-1h", "n2-"]
    assert [job["gpus"] for job in jobs] == [1, 1, 2, 2]
    assert [job.get("time_limit_s") for job in jobs] == [3600, None, 3600, None]
    assert (jobs[0]["tags"], jobs[0]["env"]) == (["g1"], ["G=1"])
    assert (jobs[0]["log"], jobs[0]["fill_paths"]) == ("/1/o/1{{}}-{name}-{id}.log", True)


def test_a_name_without_placeholders_names_the_group(socket: Path) -> None:
    body = sent(socket, "run {x}", "x=1,2", "--name", "plain")
    assert body["group"]["name"] == "plain"


def test_values_of_a_shell_string_are_quoted(socket: Path) -> None:
    assert sent(socket, "-c", "run {x}; true", "x=a b,2")["jobs"][0]["shell"] == "run 'a b'; true"


def test_json_has_the_group_and_every_id(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sent(socket, "run {x}", "x=1,2", "--json")
    assert json.loads(capfd.readouterr().out) == {"group": 7, "ids": [7, 8]}


def test_a_dry_run_has_the_jobs_checked_and_prints_each(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = tried(socket, "sweep", "run --x {x}", "x=a b,it's,")
    assert body["dry_run"] is True
    assert len(body["jobs"]) == 3
    assert capfd.readouterr().out == "run --x 'a b'\nrun --x \"it's\"\nrun\n"
    tried(socket, "sweep", "run {x}", "x=1,2", "-g", "{x}", "--name", "n{x}")
    assert capfd.readouterr().out == "run 1  (gpus 1, name n1)\nrun 2  (gpus 2, name n2)\n"
    tried(socket, "sweep", "run --x {x}", "x=1", "--json")
    assert json.loads(capfd.readouterr().out) == [{"command": ["run", "--x", "1"], "params": {"x": "1"}}]


def test_rows_come_from_a_file_and_are_sampled(socket: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text("lr,bs\n1e-3,8\n1e-4,16\n1e-5,32\n")
    line = ["sweep", "run {lr} {bs} {s}", "s=1,2", "--from", str(tmp_path / "p.csv")]
    tried(socket, *line, "--where", "bs > 8 and s == 1")
    assert capfd.readouterr().out == "run 1e-4 16 1\nrun 1e-5 32 1\n"
    tried(socket, *line, "--sample", "2")
    first = capfd.readouterr()
    seed = first.err.split("--seed ")[1].split()[0]
    tried(socket, *line, "--sample", "2", "--seed", seed)
    assert capfd.readouterr().out == first.out


@pytest.mark.parametrize(
    ("argv", "said", "hint"),
    [
        ([], "the command is missing", "quote it"),
        (["run {x}"], "no parameters given", "--from"),
        (["run {lr}", "lt=1"], "{lr} is not a parameter", "did you mean {lt}?"),
        (["run {lr}", "lr=1", "seed=2"], "parameter seed is not used", "write {seed}"),
        (["run {gpus}", "gpus=1,2", "--fill"], "with --fill, a parameter cannot be named gpus", "another name"),
        (["run {lr}", "lr=1", "--name", "{lrr}"], "{lrr} is not a parameter", "{lr}"),
        (["run {g}", "g=1,x", "-g", "{g}"], "--gpus x: it must be a whole number", "g=x"),
        (["run {x}", "x=1", "--seed", "3"], "--seed applies to --sample", "seed=1..5"),
        (["run {x}", "x=1", "--array", "3"], "--array is not for sweeps", "use a parameter for the index"),
        (["run {x}", "x=1", "--group", "7"], "--group 7: it must be a name", "name"),
        (["run {x}", "x=1..2000", "-c", "y {x}"], "is not a parameter", "NAME=VALUES"),
        (["run {x}", "x=1", "--hold", "--draft"], "exclude each other", "--hold"),
    ],
)
def test_what_is_refused_without_a_controller(
    socket: Path, capfd: pytest.CaptureFixture[str], argv: list[str], said: str, hint: str
) -> None:
    assert run_line(["sweep", *argv]) == 2
    message, _, rest = capfd.readouterr().err.partition("\n")
    assert said in message
    assert hint in rest


def test_unused_columns_of_a_file_are_kept_as_parameters(
    socket: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.csv").write_text("a,note\n1,first\n2,\n")
    line = ["sweep", "echo {a}", "--from", str(tmp_path / "p.csv"), "--json"]
    tried(socket, *line)
    assert json.loads(capfd.readouterr().out) == [
        {"command": ["echo", "1"], "params": {"a": "1", "note": "first"}},
        {"command": ["echo", "2"], "params": {"a": "2", "note": ""}},
    ]


def test_a_refusal_names_the_values_of_the_job(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    refused = {"index": 1, "key": "k", "message": "requested 9 GPUs", "hint": "request fewer"}
    error = {"code": "refused", "key": "k", "message": "requested 9 GPUs", "hint": "request fewer", "jobs": [refused]}
    with serving(socket, answer(json.dumps({"error": error}).encode(), "400 Bad Request")):
        assert run_line(["sweep", "run", "g=1,9", "-g", "{g}"]) == 2
    assert "requested 9 GPUs (the job with g=9)\n  request fewer" in capfd.readouterr().err
