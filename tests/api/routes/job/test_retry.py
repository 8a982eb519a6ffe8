"""Retries over HTTP: automatic ones with their waits and attempts, and those by hand."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.served import Served
from tests.home import until

FAIL = {"shell": "echo attempt $TARMAC_ATTEMPT; exit 3", "gpus": 0}
SLEEP = {"command": ["sleep", "60"], "gpus": 0}


def look(api: Served, job: int) -> dict[str, Any]:
    return api.ask("GET", f"/jobs/{job}")[1]  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def as_before(api: Served) -> Iterator[None]:
    """The tests share one controller."""
    yield
    for setting in ("retries", "max_queued"):
        api.ask("DELETE", f"/settings/{setting}")
    api.ask("POST", "/queue/resume", {})
    api.ask("POST", "/jobs/kill", {"ids": ["all"], "grace_s": 0})
    assert until(lambda: not api.ask("GET", "/jobs?state=active")[1]["jobs"])


def retry(api: Served, **body: Any) -> Any:
    status, answer = api.ask("POST", "/jobs/retry", body)
    assert status == 200, answer
    return answer


def refused(api: Served, **body: Any) -> tuple[int, str, str]:
    status, answer = api.ask("POST", "/jobs/retry", body)
    return status, answer["error"]["message"], answer["error"]["hint"]


def test_every_attempt_keeps_its_own_end_and_log(api: Served) -> None:
    (job,) = api.ids({**FAIL, "retries": 2, "retry_delay_s": 0, "gpus": 1})
    seen = api.until(job, "failed")
    assert (seen["attempt"], seen["attempts_max"], seen["retry_at"]) == (3, 3, None)
    attempts = look(api, job)["attempts"]
    assert [(one["attempt"], one["state"], one["reason"], one["exit_code"]) for one in attempts] == [
        (number, "failed", "exit", 3) for number in (1, 2, 3)
    ]
    assert all(one["gpus"] and one["started_at"] and one["ended_at"] for one in attempts)
    assert len({one["log_path"] for one in attempts}) == 3
    for number in (1, 2, 3):
        assert api.get(f"/jobs/{job}/log?attempt={number}").read() == f"attempt {number}\n".encode()


def test_a_job_that_waits_between_attempts_says_until_when(api: Served) -> None:
    (job,) = api.ids({**FAIL, "retries": 3, "retry_delay_s": 600})
    seen = until(lambda: (now := look(api, job))["retry_at"] and now)
    assert (seen["state"], seen["attempt"], seen["attempts_max"]) == ("queued", 1, 4)
    assert "the last attempt exited with code 3; attempt 2 starts in " in seen["reason"]
    assert f"run `tarmac retry {job}` to start it now" in seen["reason"]
    assert (seen["estimate_rests_on"], seen["estimate_basis"]) == (["retry"], "when its retry is due")
    assert seen["message"] == "attempt 1 exited with code 3"
    why = api.ask("GET", f"/jobs/{job}/why")[1]
    (reason,) = why["reasons"]
    assert (reason["kind"], reason["attempt"], reason["reason"]) == ("retry_at", 2, "exited with code 3")
    assert why["estimated_start"] == seen["retry_at"]
    assert retry(api, ids=[str(job)])["retried"] == [job]
    assert until(lambda: look(api, job)["attempt"] == 2 and look(api, job)["retry_at"])
    assert look(api, job)["attempts_max"] == 4, "its second wait is longer"


@pytest.mark.parametrize("end", ["exit 0", "exit 3", "kill -SEGV $$"])
def test_a_job_that_has_ended_runs_again_as_its_next_attempt(api: Served, end: str) -> None:
    (job,) = api.ids({"shell": end, "gpus": 0})
    assert until(lambda: look(api, job)["ended_at"])
    assert retry(api, ids=["last"]) == {"retried": [job], "not_retried": [], "notice": None}
    assert until(lambda: look(api, job)["ended_at"] and look(api, job)["attempt"] == 2)
    assert [one["attempt"] for one in look(api, job)["attempts"]] == [1, 2]
    kinds = [event["kind"] for event in api.ask("GET", f"/jobs/{job}/events")[1]["events"]]
    assert kinds.count("JobsRetried") == 1


def test_a_killed_job_is_not_retried_by_tarmac_but_can_be_by_hand(api: Served) -> None:
    (job,) = api.ids({**SLEEP, "retries": 5})
    api.until(job, "running")
    api.ask("POST", "/jobs/kill", {"ids": [str(job)]})
    assert api.until(job, "cancelled")["attempt"] == 1
    retry(api, ids=[str(job)])
    assert api.until(job, "running")["attempt"] == 2
    api.ask("POST", "/jobs/kill", {"ids": [str(job)], "grace_s": 0})


def test_failed_selects_the_failed_jobs_of_the_caller(api: Served) -> None:
    api.ask("POST", "/jobs/rm", {"ids": ["all"]})
    bad, good, named = api.ids(FAIL, {"command": ["true"], "gpus": 0}, {**FAIL, "name": "sweep-1"})
    for job in (bad, good, named):
        api.ask("GET", f"/jobs/wait?ids={job}&timeout_s=20")
    assert retry(api, failed=True, name="sweep*")["retried"] == [named]
    api.ask("GET", f"/jobs/wait?ids={named}&timeout_s=20")
    assert retry(api, failed=True)["retried"] == [bad, named]
    assert refused(api, failed=True, state="failed")[0] == 400
    assert refused(api, failed=True, name="other*")[0] == 404


def test_a_job_that_has_not_ended_is_refused_and_others_are_retried(api: Served) -> None:
    running, held = api.ids(SLEEP)[0], api.ids(SLEEP, entry="held")[0]
    (done,) = api.ids(FAIL)
    api.until(running, "running")
    api.until(done, "failed")
    status, message, hint = refused(api, ids=[str(running)])
    assert (status, message) == (409, f"job {running} is running; only jobs that have ended can be retried")
    assert f"tarmac kill {running}" in hint
    assert refused(api, ids=[str(held)])[:2] == (409, f"job {held} is held and has not ended")
    answer = retry(api, ids=[str(job) for job in (running, held, done)])
    assert (answer["retried"], [one["id"] for one in answer["not_retried"]]) == ([done], [running, held])
    assert [one["reason"] for one in answer["not_retried"]] == [
        f"job {running} is running; only jobs that have ended can be retried",
        f"job {held} is held and has not ended",
    ]
    assert refused(api)[0] == 400
    assert refused(api, ids=["99"])[0] == 404


def test_a_retry_obeys_the_queue_and_its_limits(api: Served) -> None:
    (done,) = api.ids(FAIL)
    api.until(done, "failed")
    api.ask("POST", "/queue/drain", {})
    assert refused(api, ids=[str(done)])[0] == 409
    api.ask("POST", "/queue/resume", {})
    api.ask("POST", "/queue/pause", {"reason": "new driver"})
    assert "new driver" in retry(api, ids=[str(done)])["notice"]
    (other,) = api.ids(FAIL)
    api.ask("POST", "/jobs/kill", {"ids": [str(other)]})
    api.ask("PUT", "/settings/max_queued", {"value": "1"})
    status, message, _ = refused(api, ids=[str(other)])
    assert (status, "max_queued" in message) == (400, True)


def test_two_jobs_never_write_to_one_file(api: Served, tmp_path: Any) -> None:
    log = str(tmp_path / "log")
    (first,) = api.ids({**FAIL, "log": log})
    api.until(first, "failed")
    (second,) = api.ids({**SLEEP, "log": log, "append": True})
    api.until(second, "running")
    status, message, _ = refused(api, ids=[str(first)])
    assert (status, log in message) == (400, True)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"retries": -1}, "retries (--retry) must be a whole number from 0 to 1000"),
        ({"retries": 2, "retry_on": ["oops"]}, "retry_on"),
        ({"retries": 2, "retry_delay_s": -1}, "retry_delay_s"),
        ({"on_oom": "explode"}, "on_oom"),
        ({"retry_on": ["oom"]}, "--retry-on needs retries, but this job has none"),
        ({"retry_delay_s": 5}, "--retry-delay needs retries, but this job has none"),
        ({"retries": 0, "on_oom": "grow"}, "--on-oom grow needs retries, but this job has none"),
    ],
)
def test_bad_options_are_refused_with_what_is_allowed(api: Served, asked: dict[str, Any], message: str) -> None:
    status, answer = api.submit({**FAIL, **asked})
    assert status == 400
    assert message in answer["error"]["message"]


def test_the_setting_is_the_default_and_on_oom_alone_has_retries(api: Served) -> None:
    (oom,) = api.ids({**FAIL, "on_oom": "grow"})
    seen = look(api, oom)
    assert (seen["retries"], seen["retry_on"], seen["on_oom"]) == (3, ["oom"], "grow")
    assert api.until(oom, "failed")["attempt"] == 1, "another failure is not retried"
    api.ask("PUT", "/settings/retries", {"value": "1"})
    usual, none = api.ids(FAIL, {**FAIL, "retries": 0})
    assert api.until(usual, "failed")["attempt"] == 2
    assert api.until(none, "failed")["attempt"] == 1


def test_retries_of_a_waiting_job_can_be_edited(api: Served) -> None:
    (job,) = api.ids(FAIL, entry="held")
    changes = {"retries": 2, "retry_on": ["timeout"], "retry_delay_s": 3, "on_oom": "grow"}
    status, seen = api.ask("PATCH", f"/jobs/{job}", changes)
    assert (status, {name: seen[name] for name in changes}) == (200, changes)
    status, seen = api.ask("PATCH", f"/jobs/{job}", {"on_oom": None, "retry_delay_s": None, "retries": 0})
    assert (seen["on_oom"], seen["retry_delay_s"], seen["retries"]) == (None, None, 0)
    status, answer = api.ask("PATCH", f"/jobs/{job}", {"on_oom": "grow"})
    assert (status, "needs retries" in answer["error"]["message"]) == (400, True)


def test_a_job_is_told_how_often_it_was_started_and_ran_out_of_memory(api: Served) -> None:
    script = (
        'echo "$TARMAC_RESTART_COUNT $TARMAC_OOM_COUNT"; [ $TARMAC_RESTART_COUNT = 2 ] && exit 0;'
        "echo 'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB'; exit 1"
    )
    (job,) = api.ids({"shell": script, "on_oom": "retry", "retry_delay_s": 0})
    seen = api.until(job, "succeeded")
    assert (seen["attempt"], look(api, job)["oom_count"]) == (3, 2)
    assert [one["reason"] for one in look(api, job)["attempts"]] == ["oom-gpu", "oom-gpu", None]
    assert api.get(f"/jobs/{job}/log?attempt=3").read() == b"2 2\n"


def test_a_requeue_needs_a_time_limit(api: Served) -> None:
    status, answer = api.submit({**FAIL, "requeue": True})
    assert (status, answer["error"]["message"]) == (400, "--requeue applies at the time limit, but the job has none")
    assert api.submit({**FAIL, "requeue": True, "tier": "preemptible"})[0] == 201, "preemptions requeue it"
    (job,) = api.ids({**FAIL, "requeue": True, "time_limit_s": 60, "begin_at": 4e9})
    status, answer = api.ask("PATCH", f"/jobs/{job}", {"time_limit_s": None})
    assert (status, answer["error"]["hint"]) == (400, "add --time")


def test_contradictions_about_memory_are_refused(api: Served) -> None:
    body = {**FAIL, "retries": 2, "retry_on": ["oom"], "begin_at": 4e9}
    assert api.submit({**body, "on_oom": "fail"})[0] == 400
    (job,) = api.ids(body)
    status, answer = api.ask("PATCH", f"/jobs/{job}", {"on_oom": "fail", "retry_on": ["exit", "oom"]})
    assert (status, answer["error"]["message"]) == (400, "--on-oom fail contradicts --retry-on oom")


def test_the_time_of_an_attempt_leaves_pauses_out(api: Served) -> None:
    (job,) = api.ids({"shell": "sleep 1000", "gpus": 0})
    api.until(job, "running")
    assert api.ask("POST", "/jobs/pause", {"ids": [str(job)]})[0] == 200
    assert until(lambda: look(api, job)["pause_s"] > 1.5)
    running = look(api, job)
    (attempt,) = running["attempts"]
    assert attempt["pause_s"] > 1.5
    assert attempt["elapsed_s"] == running["elapsed_s"]
    assert api.ask("POST", "/jobs/kill", {"ids": [str(job)], "grace_s": 0})[0] == 200
    ended = api.until(job, "cancelled")
    (attempt,) = look(api, job)["attempts"]
    assert attempt["pause_s"] == ended["pause_s"] > 1.5
    assert attempt["elapsed_s"] == pytest.approx(ended["elapsed_s"])


def test_a_job_whose_dependency_is_not_retried_says_so(api: Served) -> None:
    (first,) = api.ids(FAIL)
    (second,) = api.ids({**FAIL, "after": [f"{first}:ok"]})
    api.until(second, "failed")
    answer = retry(api, ids=[str(second)])
    assert answer["retried"] == [second]
    assert answer["notice"] == (
        f"job {second} failed again: job {first} did not succeed, but this job was to start only if it succeeded; "
        f"to retry the jobs together, run `tarmac retry {first} {second}`"
    )
