"""Forms: what is typed is read as on the command line, and every mistake is named at its field."""

from __future__ import annotations

import shlex
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tarmac.shared.job_options import JOB_OPTIONS
from tests.api.served import Served
from tests.home import Home


def check(api: Served, **form: Any) -> dict[str, Any]:
    status, answer = api.ask("POST", "/jobs/form", {**form, "dry_run": True})
    assert status == 200, answer
    return answer  # type: ignore[no-any-return]


def submit(api: Served, **form: Any) -> list[int]:
    status, answer = api.ask("POST", "/jobs/form", form)
    assert status == 200, answer
    return answer["ids"]  # type: ignore[no-any-return]


def mistakes(api: Served, **form: Any) -> list[tuple[str | None, str]]:
    return [(one["field"], one["message"]) for one in check(api, **form)["mistakes"]]


def number_of_jobs(api: Served) -> int:
    return len(api.ask("GET", "/jobs?fields=id")[1]["jobs"])


def test_every_option_of_add_is_declared_with_its_heading(api: Served) -> None:
    status, answer = api.ask("GET", "/job-options")
    assert status == 200
    named = {one["flag"]: one for one in answer["options"]}
    assert set(named) == {one.flag for one in JOB_OPTIONS if "add" in one.verbs} - {"--shell"}
    assert named["--tier"]["choices"] == ["urgent", "normal", "preemptible"]
    assert named["--tier"]["for_admins"] == ["urgent"]
    assert (named["--env"]["is_secret"], named["--env-file"]["is_local"]) == (True, True)
    assert named["--gpu-mem"]["group"] == "GPUs"
    assert "PATH" in answer["environment"]


def test_a_form_is_read_as_the_command_line_reads_its_options(api: Served, tmp_path: Path) -> None:
    options = {"cwd": str(tmp_path), "gpus": "0", "time": "90m", "tag": ["a", "b"], "name": "typed", "priority": "3"}
    (job,) = submit(api, command="sh -c 'pwd; echo \"$HOME|$OTHER\"'", options={**options, "env": ["OTHER=x y"]})
    seen = api.until(job, "succeeded")
    assert (seen["time_limit_s"], seen["tags"], seen["name"], seen["priority"]) == (5400, ["a", "b"], "typed", 3)
    home = api.ask("GET", "/job-options")[1]["home"]
    assert Path(seen["log_path"]).read_text() == f"{tmp_path}\n{home}|x y\n"


def test_the_environment_of_the_controller_is_not_that_of_the_job(api: Served) -> None:
    (job,) = submit(api, command="env", options={"gpus": "0"})
    log = Path(api.until(job, "succeeded")["log_path"]).read_text()
    assert "PATH=" in log
    assert "TARMAC_FAKE_GPUS=" not in log
    assert mistakes(api, command="true", options={"env": ["TARMAC_HOME"]}) == [
        ("env", "TARMAC_HOME: it must be NAME=VALUE")
    ]


def home_of(api: Served) -> str:
    return api.ask("GET", "/job-options")[1]["home"]  # type: ignore[no-any-return]


def test_a_command_runs_by_a_shell_only_if_it_needs_one(api: Served) -> None:
    begin = f"tarmac add --no-env --cwd {home_of(api)}"
    assert check(api, command="python train.py 'a b'")["command_line"] == f"{begin} python train.py 'a b'"
    assert check(api, command="a | b")["command_line"] == f"{begin} -c 'a | b'"
    assert check(api, command="a\nb")["jobs"][0]["command"] == "a\nb"
    assert check(api, command="LR=1 ./fit")["command_line"] == f"{begin} -c 'LR=1 ./fit'"
    assert mistakes(api, command="a | b", shell=False)[0][0] == "command"
    wrong = check(api, command="python 'x")["mistakes"][0]
    assert (wrong["field"], wrong["line"], wrong["column"]) == ("command", 1, 8)


def test_each_mistake_is_at_its_field(api: Served, tmp_path: Path) -> None:
    found = mistakes(api, command="", options={"time": "90", "gpus": "x", "gpu-mem": "8Q"})
    assert [field for field, _ in found] == ["time", "gpus", "gpu-mem", "command"]
    assert mistakes(api, command="true", options={"gpus": "900"})[0][0] == "gpus"
    assert mistakes(api, command="true", options={"cwd": str(tmp_path / "no")})[0][0] == "cwd"
    assert mistakes(api, command="true", options={"after": ["987654"]})[0][0] == "after"
    assert mistakes(api, command="true", options={"gpu-mem": "1G", "gpu-share": "0.5"})[0][0] == "gpu-mem"
    assert mistakes(api, command="true", options={"env-file": ["/etc/passwd"]})[0][0] == "env-file"
    assert mistakes(api, command="true", options={"notify": ["nobody"]})[0][0] == "notify"


def test_a_submit_with_a_mistake_is_refused_and_queues_nothing(api: Served) -> None:
    before = number_of_jobs(api)
    status, answer = api.ask("POST", "/jobs/form", {"command": "true", "options": {"time": "90"}})
    assert (status, answer["error"]["key"]) == (400, "form.mistake")
    assert "90: " in answer["error"]["message"]
    assert number_of_jobs(api) == before


def test_the_command_line_is_quoted_exactly(api: Served) -> None:
    options = {"name": "it's <b>", "tag": ["a b", "-x"], "gpus": "0", "requeue": True, "time": "1h", "append": False}
    line = check(api, command="echo '$HOME' \"it's\"", options=options)["command_line"]
    assert shlex.split(line) == [
        "tarmac", "add", "--no-env", "--gpus", "0", "--name", "it's <b>", "--tag", "a b", "--tag=-x",
        "--cwd", home_of(api), "--time", "1h", "--requeue", "echo", "$HOME", "it's",
    ]  # fmt: skip


@pytest.mark.parametrize("typed", ["", "none", "~", ".", "/tmp"])
def test_the_command_line_runs_in_the_directory_of_the_form(
    api: Served, shared_home: Home, tmp_path: Path, typed: str
) -> None:
    form = {"command": "true", "options": {"gpus": "0", "cwd": typed, "hold": True}}
    (by_form,) = submit(api, **form)
    words = shlex.split(check(api, **form)["command_line"])
    shared_home.tarmac(*words[1:], cwd=tmp_path)
    first, second = (api.ask("GET", f"/jobs/{job}")[1] for job in (by_form, by_form + 1))
    assert first["cwd"] == second["cwd"]
    assert f"--log {home_of(api)}/x.log" in check(api, command="true", options={"log": "~/x.log"})["command_line"]


def test_a_dry_run_says_when_the_job_would_start_and_changes_nothing(api: Served) -> None:
    before = number_of_jobs(api)
    assert check(api, command="true", options={"gpus": "2"})["start"] == {
        "estimated_start": None, "estimate_basis": None, "reasons": [],
    }  # fmt: skip
    (running,) = submit(api, command="sleep 600", options={"gpus": "2", "time": "1h"})
    api.until(running, "running")
    start = check(api, command="true", options={"gpus": "1"})["start"]
    assert f"job {running}" in " ".join(start["reasons"])
    wait_s = datetime.fromisoformat(start["estimated_start"]).timestamp() - time.time()
    assert 3000 < wait_s < 3700
    assert check(api, command="true", options={"gpus": "1", "hold": True})["start"]["estimated_start"] is None
    later = check(api, command="true", options={"gpus": "1", "begin": "in 5h"})["start"]
    assert datetime.fromisoformat(later["estimated_start"]).timestamp() - time.time() > 4 * 3600
    assert number_of_jobs(api) == before + 1
    assert api.ask("GET", "/queue")[1]["queued"] == 0


def test_the_place_of_a_new_job_follows_its_priority(api: Served) -> None:
    (running,) = submit(api, command="sleep 600", options={"gpus": "2", "time": "1h"})
    submit(api, command="sleep 600", options={"gpus": "2", "time": "2h"})
    api.until(running, "running")
    first = check(api, command="true", options={"gpus": "1", "priority": "1", "time": "3h"})["start"]
    last = check(api, command="true", options={"gpus": "1", "priority": "99", "time": "3h"})["start"]
    assert first["estimated_start"] < last["estimated_start"]


def test_a_dry_run_of_a_submit_says_it_too(api: Served) -> None:
    status, answer = api.submit({"command": ["true"], "gpus": 1}, dry_run=True)
    assert (status, answer["start"]["reasons"]) == (200, [])
    assert "start" not in api.submit({"command": ["true"], "gpus": 0})[1]


def test_a_token_makes_one_job(api: Served) -> None:
    form = {"command": "true", "options": {"gpus": "0"}, "token": "once-only"}
    assert submit(api, **form) == submit(api, **form)


def test_a_sweep_is_shown_before_it_is_queued(api: Served) -> None:
    form = {"kind": "sweep", "command": "./fit --lr {lr} --seed {s}", "parameters": ["lr=1e-3,3e-4", "s=1..3"]}
    shown = check(api, **form, options={"gpus": "0"})
    assert shown["count"] == 6
    assert shown["jobs"][1] == {"command": "./fit --lr 1e-3 --seed 2", "params": {"lr": "1e-3", "s": "2"}, "line": None}
    assert shown["command_line"] == (
        f"tarmac sweep --no-env --gpus 0 --cwd {home_of(api)} './fit --lr {{lr}} --seed {{s}}' lr=1e-3,3e-4 s=1..3"
    )
    assert check(api, **form, where="lr < 1e-3 and s != 2")["count"] == 2
    assert check(api, **form, sample="2", seed="7")["count"] == 2
    assert mistakes(api, **form, where="lrr < 1")[0][0] == "where"
    assert mistakes(api, **form, seed="7")[0][0] == "seed"
    assert mistakes(api, **form, zip=True)[0][0] == "parameters"
    assert mistakes(api, **{**form, "parameters": ["lr=1,2"]})[0] == ("command", "{s} is not a parameter")
    assert mistakes(api, **{**form, "parameters": ["lr=1,2", "s=1..2..0"]})[0][0] == "parameters"
    ids = submit(api, **{**form, "command": "sh -c 'exit 0' {lr} {s}"}, options={"gpus": "0", "name": "l{lr}"})
    assert [api.ask("GET", f"/jobs/{job}")[1]["name"] for job in ids[:4:3]] == ["l1e-3", "l3e-4"]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("command,gpus\ntrue,0\nfalse,x\n", (3, 7), "whole number"),
        ('{"command": "true"}\n{"command": "x", "gpu": 1}\n', (2, 25), "did you mean gpus"),
        ("a;;/tmp/x.log;;true\nb;;true\n", (2, 8), "expected name;;outfile;;command"),
        ("true\n\npython 'x\n", (3, 8), "not closed"),
        ("command,gpus\ntrue,0\nfalse,900\n", (3, 7), "requested 900 GPUs"),
    ],
)
def test_a_mistake_in_a_batch_has_a_line_and_a_column(
    api: Served, text: str, place: tuple[int, int], said: str
) -> None:
    (wrong,) = check(api, kind="batch", batch=text)["mistakes"]
    assert (wrong["field"], wrong["line"], wrong["column"]) == ("batch", *place)
    assert said in wrong["message"]


def test_a_batch_is_one_group(api: Served) -> None:
    form = {"kind": "batch", "batch": "true\n# no\nfalse\n", "options": {"gpus": "0"}, "group": "pasted"}
    assert [(job["line"], job["command"]) for job in check(api, **form)["jobs"]] == [(1, "true"), (3, "false")]
    first, second = submit(api, **form)
    assert api.ask("GET", f"/groups/{first}")[1]["name"] == "pasted"
    assert api.until(second, "failed")["group"] == first


def test_an_array_has_as_many_jobs_as_indices(api: Served) -> None:
    assert check(api, command="true", options={"array": "0-9%3"})["count"] == 10


def test_only_an_admin_sees_an_urgent_job_accepted(api: Served) -> None:
    assert check(api, command="true", options={"tier": "urgent"})["mistakes"] == []


def test_a_form_has_a_limit_so_that_others_are_answered_meanwhile(api: Served) -> None:
    form = {"kind": "sweep", "command": "./fit {a} {b}", "parameters": ["a=1..1000", "b=1..1000"]}
    assert mistakes(api, **form) == [("parameters", "this makes 1,000,000 jobs; the limit is 10,000")]
    assert check(api, **form, sample="3", seed="1")["count"] == 3
    said = "the batch has 10,001 jobs; the limit is 10,000"
    assert mistakes(api, kind="batch", batch="true\n" * 10_001)[0][1] == said
    assert mistakes(api, kind="batch", batch="command\n" + '"a\n\nb"\n' * 10_001)[0][1] == said
    refused = mistakes(api, **form, where="a < b")[0]
    assert refused == ("where", "--where would be tried on 1,000,000 combinations; the limit is 100,000")
    assert api.ask("POST", "/jobs/form", {"kind": "batch", "batch": "#\n" * (1 << 20) + "true"})[0] == 400


def test_many_mistakes_are_counted_and_the_first_are_shown(api: Served) -> None:
    read = check(api, kind="batch", batch="true 'x\n" * 250)
    assert (len(read["mistakes"]), read["more_mistakes"]) == (100, 150)
    placed = check(api, kind="batch", batch="command,gpus\n" + "true,900\n" * 250)
    assert (len(placed["mistakes"]), placed["more_mistakes"]) == (100, 150)
    form = {"kind": "sweep", "command": "./fit {a}", "parameters": ["a=1..250"], "options": {"gpus": "900"}}
    swept = check(api, **form)
    assert (len(swept["mistakes"]), swept["more_mistakes"]) == (1, 0)


def test_a_value_of_a_sweep_that_nests_in_chinese_is_refused_in_words(api: Served) -> None:
    form = {"kind": "sweep", "command": "./fit {a}", "parameters": ["a=1,2"], "sample": ": " * 1990, "dry_run": True}
    status, answer = api.ask("POST", "/jobs/form", form, {"Accept-Language": "zh"})
    assert (status, answer["mistakes"][0]["field"]) == (200, "sample")
    assert len(answer["mistakes"][0]["message"]) < 300


def test_a_word_that_contains_last_needs_no_job(api: Served) -> None:
    api.client.rm("all")
    found = check(api, kind="batch", batch="./fit --model elastic\n", options={"gpus": "0"})
    assert (found["mistakes"], found["count"]) == ([], 1)
    (wrong,) = check(api, kind="batch", batch="command,after\ntrue,last\n", options={"gpus": "0"})["mistakes"]
    assert "you have not submitted a job yet" in wrong["message"]


def test_last_is_the_newest_job_of_the_caller(api: Served) -> None:
    (first,) = submit(api, command="sleep 60", options={"gpus": "0"})
    (second,) = submit(api, command="true", options={"gpus": "0", "after": ["last:any"]})
    assert api.ask("GET", f"/jobs/{second}")[1]["after"] == [f"{first}:any"]
    first_line, last_line = submit(api, kind="batch", batch="command,after\ntrue,last\ntrue,\n", options={"gpus": "0"})
    assert api.ask("GET", f"/jobs/{first_line}")[1]["after"] == [f"{second}:ok"]
    assert api.ask("GET", f"/jobs/{last_line}")[1]["after"] == []
