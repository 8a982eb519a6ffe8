"""The output of jobs, over HTTP."""

from tests.api.served import Served


def test_following_a_log_gives_every_byte_and_ends_with_the_job(api: Served) -> None:
    (job,) = api.ids({"shell": "printf 'a\\r\\377\\000b'; sleep 0.2; printf 'last'", "gpus": 0})
    assert api.get(f"/jobs/{job}/log?follow=1").read() == b"a\r\xff\x00blast"


def test_a_log_can_be_followed_before_the_job_starts(api: Served) -> None:
    blocker, waiting = api.ids({"command": ["sleep", "60"], "gpus": 2}, {"shell": "echo now", "gpus": 2})
    api.until(blocker, "running")
    connection = api.connect()
    connection.request("GET", f"/api/v1/jobs/{waiting}/log?follow=1")
    api.ask("POST", "/jobs/kill", {"ids": [str(blocker)], "grace_s": 0})
    assert connection.getresponse().read() == b"now\n"


def test_the_end_of_a_log_and_the_rest_from_an_offset(api: Served) -> None:
    (job,) = api.ids({"shell": "seq 1 100; echo oops >&2", "gpus": 0})
    api.until(job, "succeeded")
    assert api.ask("GET", f"/jobs/{job}/log?lines=2")[1] == b"100\noops\n"
    assert api.ask("GET", f"/jobs/{job}/log?offset=4")[1].startswith(b"3\n4\n")
    assert api.ask("GET", f"/jobs/{job}/log?lines=0")[1] == b""


def test_the_error_for_missing_output_says_how_to_wait_for_it(api: Served) -> None:
    blocker, waiting = api.ids({"command": ["sleep", "60"], "gpus": 2}, {"command": ["true"], "gpus": 2})
    api.until(blocker, "running")
    status, answer = api.ask("GET", f"/jobs/{waiting}/log")
    assert status == 404
    assert "-f" in answer["error"]["hint"]


def test_progress_is_read_from_the_log_of_a_running_job(api: Served) -> None:
    (job,) = api.ids({"shell": "printf '45%%|####      | 45/100 [00:12<00:15, 3.6it/s]\\r'; sleep 60"})
    api.until(job, "running")
    while (progress := api.ask("GET", f"/jobs/{job}")[1]["progress"]) is None:
        api.ask("GET", f"/jobs/wait?ids={job}&timeout_s=0.1")
    assert progress == {"fraction": 0.45, "eta_s": 15.0}
