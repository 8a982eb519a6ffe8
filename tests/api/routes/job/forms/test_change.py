"""The form of a job that exists: edited while it waits, and copied with changes."""

from __future__ import annotations

from typing import Any

from tests.api.served import Served


def form_of(api: Served, job: int) -> dict[str, Any]:
    status, answer = api.ask("GET", f"/jobs/{job}/form")
    assert status == 200
    return answer  # type: ignore[no-any-return]


def held(api: Served, **job: Any) -> int:
    (number,) = api.ids({"command": ["sh", "-c", "echo 'a b'"], "gpus": 1, **job}, entry="held")
    return number


def test_the_form_of_a_job_says_what_one_would_type(api: Served) -> None:
    options = {"gpu_memory_bytes": 8 << 30, "time_limit_s": 5400, "tags": ["x"], "signal": 10, "requeue": True}
    form = form_of(api, held(api, **options, env=["TOKEN=secret"]))
    assert (form["command"], form["shell"]) == ("sh -c 'echo '\"'\"'a b'\"'\"''", False)
    assert form["options"] == {
        "gpus": "1", "cwd": str(api.home), "gpu-mem": "8G", "time": "90m", "tag": ["x"], "signal": ["USR1"],
        "requeue": True,
    }  # fmt: skip
    assert form["unresettable"] == {"priority": "10", "tier": "normal", "retry": "0", "nice": "0"}
    assert "secret" not in str(form)


def test_an_unchanged_command_reads_back_as_it_was(api: Served) -> None:
    job = held(api)
    body = {"command": form_of(api, job)["command"], "shell": False}
    assert api.ask("PATCH", f"/jobs/{job}/form", body)[0] == 200
    assert api.ask("GET", f"/jobs/{job}/options")[1]["command"] == ["sh", "-c", "echo 'a b'"]


def test_only_what_changed_is_changed(api: Served) -> None:
    job = held(api, time_limit_s=60, tags=["x"], requeue=True)
    body = {"options": {"time": "2h", "tag": [], "requeue": False, "name": "new"}}
    status, answer = api.ask("PATCH", f"/jobs/{job}/form", {**body, "dry_run": True})
    assert (status, answer["mistakes"]) == (200, [])
    assert answer["command_line"] == f"tarmac edit {job} --name new --tag none --time 2h --no-requeue"
    assert api.ask("GET", f"/jobs/{job}/options")[1]["time_limit_s"] == 60
    status, answer = api.ask("PATCH", f"/jobs/{job}/form", body)
    assert (status, answer["ids"]) == (200, [job])
    assert form_of(api, job)["options"] == {"gpus": "1", "cwd": str(api.home), "name": "new", "time": "2h"}


def test_a_mistake_is_at_its_field(api: Served) -> None:
    job = held(api)
    wrong = {"options": {"time": "90", "priority": ""}, "dry_run": True}
    assert [one["field"] for one in api.ask("PATCH", f"/jobs/{job}/form", wrong)[1]["mistakes"]] == ["priority", "time"]
    many = {"options": {"gpus": "900"}, "dry_run": True}
    assert api.ask("PATCH", f"/jobs/{job}/form", many)[1]["mistakes"][0]["field"] == "gpus"
    assert api.ask("POST", f"/jobs/{job}/form", many)[1]["mistakes"][0]["field"] == "gpus"


def test_a_job_that_has_started_is_not_changed(api: Served) -> None:
    (job,) = api.ids({"command": ["sleep", "60"], "gpus": 0})
    api.until(job, "running")
    status, answer = api.ask("PATCH", f"/jobs/{job}/form", {"options": {"time": "2h"}})
    assert (status, answer["error"]["key"]) == (409, "job.not_waiting")
    (checked,) = api.ask("PATCH", f"/jobs/{job}/form", {"options": {"time": "2h"}, "dry_run": True})[1]["mistakes"]
    assert checked["message"] == answer["error"]["message"]


def test_a_copy_is_linked_to_its_original(api: Served) -> None:
    (job,) = api.ids({"command": ["sh", "-c", "exit 3"], "gpus": 0, "name": "old"})
    api.until(job, "failed")
    body = {"command": "echo again", "options": {"name": "new"}}
    status, answer = api.ask("POST", f"/jobs/{job}/form", {**body, "dry_run": True})
    assert (status, answer["mistakes"], answer["ids"]) == (200, [], [])
    assert answer["command_line"] == f"tarmac clone {job} --command 'echo again' --name new"
    status, answer = api.ask("POST", f"/jobs/{job}/form", body)
    copy = api.until(answer["ids"][0], "succeeded")
    assert (copy["clone_of"], copy["name"], copy["command"]) == (job, "new", ["echo", "again"])
    assert len(api.ask("POST", f"/jobs/{job}/form", {})[1]["ids"]) == 1
