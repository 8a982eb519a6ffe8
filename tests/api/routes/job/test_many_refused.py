"""A submit of several jobs: every refused job is named, and a dry run queues none."""

from typing import Any

from tests.api.served import Served

GOOD = {"command": ["true"], "gpus": 0}


def submit(api: Served, *jobs: dict[str, Any], **more: Any) -> tuple[int, Any]:
    return api.ask("POST", "/jobs", {"cwd": "/", "jobs": list(jobs), **more})


def test_every_refused_job_is_named_with_its_place(api: Served) -> None:
    status, answer = submit(api, GOOD, {**GOOD, "gpus": 99}, GOOD, {"gpus": 1}, {**GOOD, "cwd": "elsewhere"})
    assert status == 400
    error = answer["error"]
    assert [(job["index"], job["key"]) for job in error["jobs"]] == [
        (1, "infeasible.too_few_gpus"),
        (3, "submit.no_command"),
        (4, "submit.cwd_not_absolute"),
    ]
    assert (error["key"], error["message"]) == (error["jobs"][0]["key"], error["jobs"][0]["message"])


def test_bad_paths_are_named_with_the_jobs_that_have_them(api: Served) -> None:
    status, answer = submit(api, {**GOOD, "cwd": "/no/such"}, GOOD, {**GOOD, "log": "/no/such/log"})
    assert status == 400
    assert [job["index"] for job in answer["error"]["jobs"]] == [0, 2]


def test_jobs_that_share_an_output_file_are_named(api: Served) -> None:
    jobs = [{**GOOD, "log": f"/tmp/refused-{name}.log"} for name in ("a", "b", "a", "b", "c")]
    status, answer = submit(api, *jobs)
    assert status == 400
    assert [(job["index"], job["key"]) for job in answer["error"]["jobs"]] == [
        (2, "submit.log_repeated"),
        (3, "submit.log_repeated"),
    ]


def test_one_job_needs_no_list(api: Served) -> None:
    status, answer = submit(api, {**GOOD, "gpus": 99})
    assert (status, "jobs" in answer["error"]) == (400, False)


def test_a_dry_run_checks_and_queues_nothing(api: Served) -> None:
    (before,) = api.ids(GOOD)
    status, answer = submit(api, GOOD, GOOD, dry_run=True)
    assert (status, answer["ids"], answer["hints"]) == (200, [], [])
    assert answer["start"]["reasons"] == []
    assert submit(api, {**GOOD, "gpus": 99}, dry_run=True)[0] == 400
    assert api.ids(GOOD) == [before + 1]
