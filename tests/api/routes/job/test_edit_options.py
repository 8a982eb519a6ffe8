"""Every option of a waiting job can be changed, by the rules of a submit. Copies and labels of jobs in any state."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tarmac.controller.submit.request import EditRequest
from tests.api.served import Served

WIDE = {"command": ["sleep", "60"], "gpus": 2}


def options(api: Served, job: int) -> dict[str, Any]:
    status, answer = api.ask("GET", f"/jobs/{job}/options")
    assert status == 200
    found: dict[str, Any] = answer
    return found


def waiting(api: Served, **more: Any) -> int:
    (running,) = api.ids(WIDE)
    api.until(running, "running")
    (job,) = api.ids({**WIDE, **more})
    return job


NEW: dict[str, Any] = {
    "command": ["python", "x y.py"],
    "cwd": "/",
    "fill": True,
    "name": "n",
    "project": "p",
    "tags": ["a", "b"],
    "note": "a note",
    "gpus": 1,
    "gpu_memory_bytes": 1 << 30,
    "gpu_models": ["sim"],
    "min_gpu_memory_bytes": 1 << 20,
    "idle_below": 20,
    "memory_bytes": 1 << 20,
    "cpus": 1,
    "priority": 3,
    "tier": "preemptible",
    "time_limit_s": 600.0,
    "begin_at": 4_000_000_000.0,
    "nice": 5,
    "signal": 10,
    "warn": "USR2@60",
    "grace_s": 3.0,
    "retries": 2,
    "retry_on": ["exit"],
    "retry_delay_s": 7.0,
    "on_oom": "grow",
    "requeue": True,
    "append": True,
    "fetch": ["results"],
}
ELSEWHERE = {
    "shell", "env", "gpu_share", "gpus_on", "exclude_gpus", "after", "max_running", "notify", "notify_on", "log",
    "stdout", "stderr", "fill_paths", "venv", "conda", "only_nodes", "exclude_nodes", "prefer_nodes",
    "node_count",
}  # fmt: skip


def test_these_tests_know_every_option() -> None:
    assert {*NEW, *ELSEWHERE} == set(EditRequest.__struct_fields__)


def test_everything_changes_at_once(api: Served) -> None:
    job = waiting(api)
    model = api.ask("GET", "/gpus")[1]["gpus"][0]["model"]
    changes = {**NEW, "gpu_models": [model.lower()]}
    status, answer = api.ask("PATCH", f"/jobs/{job}", changes)
    assert (status, answer.get("error")) == (200, None)
    assert changes.items() <= options(api, job).items()


def test_null_resets_what_can_be_reset(api: Served) -> None:
    job = waiting(api, name="n", gpu_memory_bytes=1 << 30, cpus=1, time_limit_s=60, signal=10, grace_s=3, begin_at=4e9)
    cleared = dict.fromkeys(
        ("name", "gpu_memory_bytes", "cpus", "time_limit_s", "signal", "grace_s", "begin_at", "gpus")
    )
    assert api.ask("PATCH", f"/jobs/{job}", cleared)[0] == 200
    found = options(api, job)
    assert found["gpus"] == 1
    assert not set(cleared) - {"gpus"} & set(found)


def test_a_shell_string_replaces_a_command_and_a_share_replaces_memory(api: Served) -> None:
    job = waiting(api, gpu_memory_bytes=1 << 30)
    assert api.ask("PATCH", f"/jobs/{job}", {"shell": "a | b", "gpu_share": 0.5})[0] == 200
    found = options(api, job)
    assert (found["shell"], found["gpu_share"]) == ("a | b", 0.5)
    assert not {"command", "gpu_memory_bytes"} & set(found)


def test_gpus_are_pinned_and_released(api: Served) -> None:
    job = waiting(api)
    assert api.ask("PATCH", f"/jobs/{job}", {"gpus_on": [1]})[0] == 200
    assert (options(api, job)["gpus"], options(api, job)["gpus_on"]) == (1, [1])
    assert api.ask("PATCH", f"/jobs/{job}", {"gpus": 2})[0] == 400
    assert api.ask("PATCH", f"/jobs/{job}", {"gpus_on": None, "gpus": 2, "exclude_gpus": None})[0] == 200
    assert "gpus_on" not in options(api, job)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"gpus": 99}, "infeasible.too_few_gpus"),
        ({"gpus": 0, "gpu_share": 0.5}, "submit.share_of_no_gpu"),
        ({"cwd": "relative"}, "submit.cwd_not_absolute"),
        ({"cwd": "/no/such"}, "submit.cwd_not_a_directory"),
        ({"log": "/no/such/x.log"}, "submit.log_no_directory"),
        ({"log": "/tmp/x", "stderr": "/tmp/y"}, "submit.log_and_streams"),
        ({"command": [""]}, "submit.command_empty"),
        ({"command": ["a\0"]}, "submit.nul"),
        ({"command": ["a"], "shell": "b"}, "submit.no_command"),
        ({"fill": True, "command": ["{x}"]}, "submit.fill_unknown"),
        ({"env": ["CUDA_VISIBLE_DEVICES=1"]}, "submit.env_reserved"),
        ({"signal": 9}, "submit.signal_uncatchable"),
        ({"warn": "USR1@60"}, "submit.warn_without_limit"),
        ({"requeue": True}, "submit.requeue_without_limit"),
        ({"gpu_share": 0.5, "gpu_memory_bytes": 5}, "submit.two_shares"),
        ({"max_running": 3}, "edit.not_in_a_group"),
        ({"note": "\0"}, "submit.nul"),
    ],
)
def test_what_a_submit_refuses_an_edit_refuses(api: Served, changes: dict[str, Any], key: str) -> None:
    job = waiting(api)
    before = options(api, job)
    status, answer = api.ask("PATCH", f"/jobs/{job}", changes)
    assert (status, answer["error"]["key"]) == (400, key)
    assert options(api, job) == before


def test_variables_are_set_and_the_others_stay(api: Served, tmp_path: Path) -> None:
    (running,) = api.ids(WIDE)
    api.until(running, "running")
    body = {"cwd": str(tmp_path), "environment": {"A": "1", "B": "2", "PATH": "/bin:/usr/bin"}}
    _, answer = api.ask("POST", "/jobs", {**body, "jobs": [{"shell": "echo $A$B", "gpus": 2}]})
    (job,) = answer["ids"]
    assert api.ask("PATCH", f"/jobs/{job}", {"env": ["B=3"], "log": str(tmp_path / "out"), "gpus": 0})[0] == 200
    api.until(job, "succeeded")
    assert (tmp_path / "out").read_text() == "13\n"


def test_jobs_do_not_share_a_file_after_an_edit(api: Served, tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    first = waiting(api, log=path)
    (second,) = api.ids(WIDE)
    assert api.ask("PATCH", f"/jobs/{second}", {"log": path})[1]["error"]["key"] == "submit.log_taken"
    assert api.ask("PATCH", f"/jobs/{first}", {"log": path, "priority": 1})[0] == 200
    assert api.ask("PATCH", f"/jobs/{first}", {"log": str(tmp_path / "other")})[0] == 200
    assert api.ask("PATCH", f"/jobs/{second}", {"log": path})[0] == 200
    both = {"ids": [str(first), str(second)], "changes": {"log": str(tmp_path / "third")}}
    assert api.ask("POST", "/jobs/edit", both)[1]["error"]["key"] == "submit.log_repeated"


def test_each_job_changes_in_its_own_way_or_none(api: Served) -> None:
    first = waiting(api)
    (second,) = api.ids(WIDE)
    status, answer = api.ask("PATCH", "/jobs", {"jobs": {str(first): {"gpus": 1}, str(second): {"gpus": 99}}})
    assert (status, answer["error"]["key"]) == (400, "edit.of_job")
    assert f"job {second}: requested 99 GPUs" in answer["error"]["message"]
    assert options(api, first)["gpus"] == 2
    (held,) = api.ids(WIDE, entry="held")
    running = first - 1
    changes = {str(running): {"name": "x"}, str(first): {"name": "y"}, str(held): {"time_limit_s": 60}}
    status, answer = api.ask("PATCH", "/jobs", {"jobs": changes})
    assert (status, answer) == (200, {"edited": [first, held], "not_waiting": [running]})
    assert (options(api, first)["name"], options(api, held)["time_limit_s"]) == ("y", 60)


def test_jobs_cannot_be_made_to_wait_for_each_other(api: Served) -> None:
    first = waiting(api)
    (second,) = api.ids(WIDE)
    each = {str(first): {"after": [str(second)]}, str(second): {"after": [str(first)]}}
    status, answer = api.ask("PATCH", "/jobs", {"jobs": each})
    assert (status, answer["error"]["key"]) == (400, "after.circle")


def test_a_clone_has_the_options_and_the_environment_of_its_original(api: Served, tmp_path: Path) -> None:
    body = {"cwd": str(tmp_path), "environment": {"A": "1", "PATH": "/bin:/usr/bin"}, "umask": 0o077}
    job = {"shell": "echo $A$B", "gpus": 0, "name": "n", "log": str(tmp_path / "one"), "note": "first"}
    (original,) = api.ask("POST", "/jobs", {**body, "jobs": [job]})[1]["ids"]
    api.until(original, "succeeded")
    copy = {"ids": [str(original)]}
    assert api.ask("POST", "/jobs/clone", copy)[1]["error"]["key"] == "submit.log_exists"
    changed = {"log": str(tmp_path / "two"), "env": ["B=2"]}
    status, answer = api.ask("POST", "/jobs/clone", {**copy, "changes": changed, "rerun": True})
    assert (status, answer["of"]) == (201, [original])
    (rerun,) = answer["ids"]
    api.until(rerun, "succeeded")
    assert (tmp_path / "two").read_text() == "12\n"
    shown = api.ask("GET", f"/jobs/{rerun}")[1]
    assert (shown["rerun_of"], shown["clone_of"], shown["name"], shown["umask"]) == (original, None, "n", 0o077)


def test_a_job_whose_virtual_environment_is_gone_is_not_copied(api: Served, tmp_path: Path) -> None:
    (tmp_path / "vv" / "bin").mkdir(parents=True)
    (tmp_path / "vv" / "pyvenv.cfg").touch()
    (tmp_path / "vv" / "bin" / "python").symlink_to(sys.executable)
    (job,) = api.ids({"command": ["true"], "gpus": 0, "cwd": str(tmp_path), "venv": "vv"}, entry="held")
    copy = {"ids": [str(job)], "entry": "held"}
    assert api.ask("POST", "/jobs/clone", copy)[0] == 201
    (tmp_path / "vv").rename(tmp_path / "elsewhere")
    status, answer = api.ask("POST", "/jobs/clone", {**copy, "rerun": True})
    assert (status, answer["error"]["key"].startswith("submit.venv_unknown")) == (400, True)


def test_clones_of_several_jobs_may_be_held(api: Served) -> None:
    ids = api.ids({"command": ["true"], "gpus": 0}, {"command": ["false"], "gpus": 0})
    status, answer = api.ask("POST", "/jobs/clone", {"ids": [str(job) for job in ids], "entry": "held"})
    assert status == 201
    assert [api.ask("GET", f"/jobs/{job}")[1]["state"] for job in answer["ids"]] == ["held", "held"]
    assert [api.ask("GET", f"/jobs/{job}")[1]["clone_of"] for job in answer["ids"]] == ids


def test_the_rerun_of_an_array_job_keeps_its_index(api: Served, tmp_path: Path) -> None:
    body = {
        "cwd": str(tmp_path),
        "environment": {"PATH": "/bin:/usr/bin"},
        "group": {"kind": "array", "indices": "5-6"},
    }
    job = {"shell": "echo $TARMAC_ARRAY_INDEX > out", "gpus": 0}
    first, _ = api.ask("POST", "/jobs", {**body, "jobs": [job]})[1]["ids"]
    api.until(first, "succeeded")
    (tmp_path / "out").unlink(missing_ok=True)
    (rerun,) = api.ask("POST", "/jobs/clone", {"ids": [str(first)], "rerun": True})[1]["ids"]
    api.until(rerun, "succeeded")
    assert (tmp_path / "out").read_text() == "5\n"


def test_labels_change_in_any_state_and_survive(api: Served) -> None:
    (ended,) = api.ids({"command": ["true"], "gpus": 0, "tags": ["a", "b"]})
    api.until(ended, "succeeded")
    job = waiting(api, tags=["b"])
    ids = [str(ended), str(job - 1), str(job)]
    body = {"ids": ids, "set_name": "new", "add_tags": ["c"], "remove_tags": ["b"], "set_note": "why"}
    assert api.ask("POST", "/jobs/label", body) == (200, {"labelled": [ended, job - 1, job]})
    shown = [api.ask("GET", f"/jobs/{number}")[1] for number in ids]
    assert [(one["name"], one["tags"], one["note"]) for one in shown] == [
        ("new", ["a", "c"], "why"), ("new", ["c"], "why"), ("new", ["c"], "why"),
    ]  # fmt: skip
    assert [one["state"] for one in shown] == ["succeeded", "running", "queued"]
    assert api.ask("POST", "/jobs/label", {"ids": ids[:1], "set_note": None})[0] == 200
    assert api.ask("GET", f"/jobs/{ended}")[1]["note"] is None
    assert api.ask("POST", "/jobs/label", {"ids": ids})[0] == 400


def test_only_the_new_path_of_an_edit_is_filled_in_and_it_is_checked(api: Served, tmp_path: Path) -> None:
    kept = str(tmp_path / "x{a}{{")
    job = waiting(api, stdout=kept)
    status, answer = api.ask("PATCH", f"/jobs/{job}", {"stderr": f"{tmp_path}/{{nosuch}}", "fill_paths": True})
    assert (status, answer["error"]["key"]) == (400, "submit.path_placeholder")
    assert api.ask("PATCH", f"/jobs/{job}", {"stderr": f"{tmp_path}/e{{id}}", "fill_paths": True})[0] == 200
    assert (options(api, job)["stdout"], options(api, job)["stderr"]) == (kept, f"{tmp_path}/e{job}")


def test_labels_given_at_once_to_an_ended_job_are_all_kept(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 0})
    api.until(job, "succeeded")
    tags = [f"t{number}" for number in range(12)]
    connections = [api.connect() for _ in tags]
    for connection, tag in zip(connections, tags, strict=True):
        body = json.dumps({"ids": [str(job)], "add_tags": [tag]})
        connection.request("POST", "/api/v1/jobs/label", body, {"Content-Type": "application/json"})
    assert {connection.getresponse().status for connection in connections} == {200}
    assert sorted(api.ask("GET", f"/jobs/{job}")[1]["tags"]) == sorted(tags)
