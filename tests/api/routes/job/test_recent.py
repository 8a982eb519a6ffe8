"""The listing of `ls` over HTTP: each job once, in its part, as of one moment."""

from tests.api.served import Served

SLEEP = {"command": ["sleep", "60"], "gpus": 2}
DONE = {"shell": "exit 0", "gpus": 0}


def test_active_jobs_and_the_newest_ended_ones(api: Served) -> None:
    ended = api.ids(*[DONE] * 3)
    for job in ended:
        api.until(job, "succeeded")
    (running,) = api.ids(SLEEP)
    api.until(running, "running")
    waiting = api.ids(*[SLEEP] * 3)
    held = api.ids(DONE, entry="held")
    answer = api.ask("GET", "/jobs/recent?ended=2&waiting=2&fields=id,state&waiting_fields=id")[1]
    assert answer == {
        "at_work": [{"id": running, "state": "running"}],
        "waiting": [{"id": waiting[0]}, {"id": waiting[1]}],
        "ended": [{"id": ended[2], "state": "succeeded"}, {"id": ended[1], "state": "succeeded"}],
        "next": waiting[1],
    }
    more = api.ask("GET", f"/jobs?state=waiting&after={answer['next']}&fields=id")[1]
    assert [job["id"] for job in more["jobs"]] == [waiting[2], *held]
    whole = api.ask("GET", "/jobs/recent?ended=0")[1]
    assert (whole["ended"], whole["next"], whole["at_work"][0]["gpus_asked"]) == ([], None, 2)
    assert api.ask("GET", "/jobs/recent?fields=nonsense")[0] == 400
