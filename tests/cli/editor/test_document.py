"""The options of jobs as TOML, and what a user changed in it."""

import tomllib
from typing import Any

import pytest

from tarmac.cli.editor.document import KEYS, OPTIONS, document, edited
from tarmac.client import Client
from tarmac.errors import UserError

OPTIONS_OF_7: dict[str, Any] = {
    "command": ["python", 'a "b".py', "é\x7f"], "gpus": 2, "cwd": "/", "name": "n", "tags": ["a", "b"],
    "gpu_memory_bytes": 8 << 30, "gpu_models": ["a100", "h100"], "gpus_on": [0, "GPU-1"], "time_limit_s": 5400.0,
    "idle_below": 1, "retries": 2, "retry_on": ["exit", "oom"], "signal": 10, "warn": "USR2@60", "after": ["3:ok"],
    "begin_at": 4_000_000_000.0, "requeue": True, "grace_s": 2.5, "notify": ["mail"], "gpu_share": 0.25,
    "tier": "urgent",
}  # fmt: skip
JOBS = {"7": OPTIONS_OF_7}


def changed(text: str, jobs: dict[str, dict[str, Any]] = JOBS) -> dict[str, dict[str, Any]]:
    return edited(text, jobs, Client("/nowhere", start=False))


def test_it_is_toml_with_the_options_as_one_types_them() -> None:
    text = document(JOBS, "Job 7")
    found = tomllib.loads(text)
    assert found["command"] == ["python", 'a "b".py', "é\x7f"]
    assert (found["gpus"], found["time"], found["gpu-mem"], found["requeue"]) == (2, "90m", "8G", True)
    assert (found["signal"], found["gpu-model"], found["gpus-on"]) == (["USR1", "USR2@60"], "a100|h100", "0,GPU-1")
    assert all(f"# {key} = " in text or key in found for key in OPTIONS if key != "shell")


def test_an_unchanged_document_changes_nothing() -> None:
    assert changed(document(JOBS, "Job 7")) == {}


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("gpus = 2", "gpus = 1", {"gpus": 1}),
        ('time = "90m"', 'time = "6h"', {"time_limit_s": 21600}),
        ('time = "90m"', "", {"time_limit_s": None}),
        ("# mem = size", 'mem = "1G" #', {"memory_bytes": 1 << 30}),
        ('tag = ["a", "b"]', "tag = []", {}),
        ('tag = ["a", "b"]', 'tag = ["c"]', {"tags": ["c"]}),
        ('tag = ["a", "b"]', "", {"tags": []}),
        ("requeue = true", "requeue = false", {"requeue": False}),
        ("requeue = true", "", {"requeue": False}),
        ("# fill = true", "fill = true #", {"fill": True}),
        ('signal = ["USR1", "USR2@60"]', 'signal = ["INT"]', {"signal": 2}),
        ('signal = ["USR1", "USR2@60"]', "", {"signal": None, "warn": None}),
        ("retry = 2", "", {"retries": 0}),
        ("# env = name[=value]", 'env = ["A=1"] #', {"env": ["A=1"]}),
        ('cwd = "/"', "", {}),
        ('after = ["3:ok"]', 'after = ["4:any"]', {"after": ["4:any"]}),
    ],
)
def test_what_differs_is_sent(old: str, new: str, changes: dict[str, Any]) -> None:
    text = document(JOBS, "Job 7")
    assert old in text
    assert changed(text.replace(old, new, 1)) == ({"7": changes} if changes else {})


def test_a_shell_string_replaces_the_command() -> None:
    text = document(JOBS, "Job 7").split("\n", 5)
    assert changed("\n".join(['shell = "a | b"', text[5]])) == {"7": {"shell": "a | b"}}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gpus = 2", "gpus = two", "the file is not TOML"),
        ("gpus = 2", 'gpus = "two"', "gpus two: it must be a whole number"),
        ("gpus = 2", "gpsu = 2", "unknown option gpsu"),
        ("requeue = true", 'requeue = "maybe"', "it must be true or false"),
        ("command = ", "xcommand = ", "unknown option xcommand"),
        ('tier = "urgent"', "", "tier cannot be removed"),
    ],
)
def test_mistakes(old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match="edit: ") as refused:
        changed(document(JOBS, "Job 7").replace(old, new, 1))
    assert message in refused.value.message


def test_several_jobs_have_a_table_each() -> None:
    jobs = {"7": {"command": ["a"], "gpus": 1, "cwd": "/"}, "8": {"shell": "b", "gpus": 2, "cwd": "/"}}
    text = document(jobs, "Jobs 7-8")
    assert changed(text, jobs) == {}
    assert changed(text.replace("gpus = 2", "gpus = 3"), jobs) == {"8": {"gpus": 3}}
    with pytest.raises(UserError, match="9 is not one of the jobs"):
        changed(text.replace("[8]", "[9]"), jobs)
    with pytest.raises(UserError, match="job 8: gpus x"):
        changed(text.replace("gpus = 2", 'gpus = "x"'), jobs)


def test_every_option_that_can_be_edited_is_a_key() -> None:
    assert {"command", "shell", "gpus", "env", "log", "note", "max-running"} <= set(KEYS)
