"""The queue as a whole, and its limits, over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tarmac.api.routes.queue import resumption
from tarmac.controller.requests.permissions import Caller
from tarmac.core.events import OwnersResumed, QueueResumed
from tarmac.core.model.note import note
from tarmac.core.model.queue import Suspension
from tarmac.core.state import State
from tarmac.refusal import Refused
from tests.api.served import Served
from tests.home import until

SLEEP = {"command": ["sleep", "60"], "gpus": 1}
NOTHING = {"command": ["true"], "gpus": 0}


@pytest.fixture(autouse=True)
def _as_usual(api: Served) -> Iterator[None]:
    yield
    api.ask("POST", "/queue/resume", {})
    for setting in api.ask("GET", "/settings")[1]["settings"]:
        if setting["origin"] == "live":
            api.ask("DELETE", f"/settings/{setting['name']}")


def limit(api: Served, name: str, value: str) -> None:
    status, answer = api.ask("PUT", f"/settings/{name}", {"value": value})
    assert status == 200, answer


def test_a_paused_queue_starts_nothing_and_says_why(api: Served) -> None:
    status, queue = api.ask("POST", "/queue/pause", {"reason": "new driver"})
    assert (status, queue["paused"], queue["reason"]) == (200, True, "new driver")
    assert queue["by"]
    assert queue["since"]
    (job,) = api.ids(NOTHING)
    seen = api.ask("GET", f"/jobs/{job}")[1]
    assert seen["state"] == "queued"
    assert "paused" in seen["reason"]
    assert "new driver" in seen["reason"]
    told = api.ask("GET", "/status")[1]
    assert (told["paused"], told["paused_reason"], told["draining"], told["queued"]) == (True, "new driver", False, 1)
    queue = api.ask("POST", "/queue/resume", {})[1]
    assert (queue["paused"], queue["reason"]) == (False, None)
    api.until(job, "succeeded")


def test_a_draining_queue_takes_nothing_new_and_works_off_the_rest(api: Served) -> None:
    first, second = api.ids({**SLEEP, "gpus": 2}, {**SLEEP, "gpus": 2})
    api.until(first, "running")
    assert api.ask("POST", "/queue/drain", {"reason": "moving house"})[1]["draining"] is True
    status, answer = api.submit(NOTHING)
    assert (status, answer["error"]["code"]) == (409, "conflict")
    assert "moving house" in answer["error"]["message"]
    api.ask("POST", "/jobs/kill", {"ids": [str(first)]})
    api.until(second, "running")


def test_a_drain_of_a_paused_queue_keeps_the_reason_of_the_pause(api: Served) -> None:
    api.ask("POST", "/queue/pause", {"reason": "new driver"})
    both = api.ask("POST", "/queue/drain", {})[1]
    assert (both["paused"], both["draining"], both["reason"]) == (True, True, "new driver")
    message = api.submit(NOTHING)[1]["error"]["message"]
    assert message == f"the queue does not accept new jobs: paused and drained by {both['by']}: new driver"
    after = api.ask("POST", "/queue/resume", {})[1]
    assert (after["paused"], after["draining"], after["reason"]) == (False, False, None)


def test_stopping_the_queue_requeues_running_jobs_first(api: Served) -> None:
    (running,) = api.ids({**SLEEP, "gpus": 2})
    api.until(running, "running")
    (waiting,) = api.ids({**SLEEP, "gpus": 2})
    assert api.ask("POST", "/queue/stop", {})[0] == 400, "what becomes of the jobs must be said"
    assert api.ask("POST", "/queue/stop", {"requeue": True, "grace_s": 0})[1] == {"stopping": [running]}
    seen = api.until(running, "queued")
    assert (seen["position"], seen["attempt"]) == (1, 1)
    assert api.ask("GET", "/queue")[1]["paused"] is True
    api.ask("POST", "/queue/resume", {})
    assert api.until(running, "running")["attempt"] == 2
    assert api.ask("GET", f"/jobs/{waiting}")[1]["state"] == "queued"


def test_the_current_policy_is_shown(api: Served) -> None:
    assert api.ask("GET", "/queue")[1]["policy"] == "balance"
    limit(api, "policy", "fifo")
    assert api.ask("GET", "/status")[1]["policy"] == "fifo"


def test_the_current_order_is_shown(api: Served) -> None:
    assert api.ask("GET", "/queue")[1]["order"] == "submitted"
    limit(api, "order", "expected")
    assert api.ask("GET", "/status")[1]["order"] == "expected"
    assert api.ask("GET", "/queue")[1]["order"] == "expected"


@pytest.mark.parametrize("body", [{"reason": "x" * 4097}, {"why": "x"}, []])
def test_invalid_requests_are_refused(api: Served, body: Any) -> None:
    assert api.ask("POST", "/queue/pause", body)[0] == 400
    assert api.ask("GET", "/queue")[1]["paused"] is False


# Limits


def test_jobs_that_would_wait_beyond_a_limit_are_refused_with_its_name_and_by_how_much(api: Served) -> None:
    limit(api, "max_queued", "2")
    api.ids(SLEEP, entry="held")
    status, answer = api.submit(SLEEP, SLEEP)
    assert status == 400
    assert "max_queued is 2: 1 too many" in answer["error"]["message"]
    assert api.submit(SLEEP, entry="held")[0] == 201


def test_limits_apply_per_user_and_per_project(api: Served) -> None:
    (held,) = api.ids({**SLEEP, "project": "p"}, entry="held")
    owner = api.ask("GET", f"/jobs/{held}")[1]["owner"]
    limit(api, "max_queued_per_user", f"100, {owner}=1")
    assert f"max_queued_per_user of {owner} is 1" in api.submit(SLEEP)[1]["error"]["message"]
    limit(api, "max_queued_per_user", "100")
    limit(api, "max_queued_per_project", "p=1")
    assert "max_queued_per_project of p is 1" in api.submit({**SLEEP, "project": "p"})[1]["error"]["message"]
    (other,) = api.ids({**SLEEP, "project": "q"}, entry="held")
    status, answer = api.ask("PATCH", f"/jobs/{other}", {"project": "p"})
    assert status == 400
    assert "max_queued_per_project" in answer["error"]["message"]


def test_a_job_with_too_many_gpus_is_refused(api: Served) -> None:
    limit(api, "max_gpus_per_job", "1")
    status, answer = api.submit({**SLEEP, "gpus": 2})
    assert status == 400
    assert "requested 2 GPUs; max_gpus_per_job is 1: 1 too many" in answer["error"]["message"]


def test_a_job_beyond_its_owners_gpu_limit_waits_with_the_reason(api: Served) -> None:
    limit(api, "max_gpus_per_user", "1")
    first, second = api.ids(SLEEP, SLEEP)
    api.until(first, "running")
    seen = api.ask("GET", f"/jobs/{second}")[1]
    assert seen["state"] == "queued"
    assert "1 GPU" in seen["reason"]
    assert "max_gpus_per_user" in seen["reason"]
    limit(api, "max_gpus_per_user", "2")
    api.until(second, "running")


def test_an_admin_may_submit_urgent_jobs(api: Served) -> None:
    (job,) = api.ids({**NOTHING, "tier": "urgent"})
    assert api.until(job, "succeeded")["tier"] == "urgent", "the account of the controller is an admin"


def test_only_the_owner_whose_jobs_keep_failing_is_suspended(api: Served, tmp_path: Path) -> None:
    limit(api, "suspend_after_failures", "3")
    notice = tmp_path / "notice"
    limit(api, "notify_command", f'echo "$TARMAC_EVENT: $TARMAC_MESSAGE" > {notice}.part; mv {notice}.part {notice}')
    ids = api.ids(*[{"shell": "echo 'ImportError: no torch'; exit 1", "gpus": 0}] * 3)
    for job in ids:
        api.until(job, "failed")
    queue = api.ask("GET", "/queue")[1]
    (suspended,) = queue["suspended"]
    assert not queue["paused"]
    assert "failed within 10 s of starting, 3 of them with: ImportError: no torch" in suspended["reason"]
    assert api.ask("GET", "/status")[1]["suspended"] == queue["suspended"]
    metrics = api.get("/metrics").read().decode()
    assert f'tarmac_owner_suspended{{owner="{suspended["owner"]}"}} 1\n' in metrics
    assert 'tarmac_notifications{state="waiting"} 0\n' in metrics
    assert until(notice.exists)
    owner, reason = suspended["owner"], suspended["reason"]
    assert notice.read_text() == f"owner-suspended: {owner} is suspended, and no more of their jobs start: {reason}\n"
    (waits,) = api.ids(NOTHING)
    seen = api.ask("GET", f"/jobs/{waits}/why")[1]
    assert [one["kind"] for one in seen["reasons"]] == ["owner_suspended"]
    assert seen["reasons"][0]["owner"] == owner
    assert api.ask("GET", f"/jobs/wait?ids={waits}&timeout_s=1")[1]["notice"].startswith(reason)
    status, answer = api.ask("POST", "/queue/resume", {"owner": "nobody-else"})
    assert (status, answer["error"]["message"]) == (409, "the jobs of nobody-else are not suspended")
    assert api.ask("POST", "/queue/resume", {"owner": owner})[1]["suspended"] == []
    api.until(waits, "succeeded")


def test_an_admin_resumes_every_suspended_owner_with_the_queue(api: Served) -> None:
    limit(api, "suspend_after_failures", "1")
    (job,) = api.ids({"shell": "exit 1", "gpus": 0})
    api.until(job, "failed")
    assert api.ask("GET", "/queue")[1]["suspended"]
    api.ask("POST", "/queue/pause", {})
    queue = api.ask("POST", "/queue/resume", {})[1]
    assert (queue["suspended"], queue["paused"]) == ([], False)


ANN, ROOT = Caller(name="ann", uid=1, is_admin=False), Caller(name="root", uid=0, is_admin=True)


def suspended_owners(*names: str) -> State:
    state = State()
    state.load_suspensions(Suspension(owner=name, reason=note("suspended.failures"), since=1.0) for name in names)
    return state


@pytest.mark.parametrize(
    ("caller", "owner", "resumed"),
    [
        (ANN, None, [OwnersResumed(owners=("ann",), by="ann")]),
        (ANN, "ann", [OwnersResumed(owners=("ann",), by="ann")]),
        (ROOT, "bob", [OwnersResumed(owners=("bob",), by="root")]),
        (ROOT, None, [OwnersResumed(owners=("ann", "bob"), by="root"), QueueResumed(by="root")]),
    ],
)
def test_users_resume_their_own_jobs_and_admins_everything(
    caller: Caller, owner: str | None, resumed: list[Any]
) -> None:
    assert resumption(suspended_owners("ann", "bob"), caller, owner) == resumed


@pytest.mark.parametrize(("suspended", "owner"), [(["ann", "bob"], "bob"), (["bob"], None), ([], None), ([], "bob")])
def test_a_user_cannot_resume_the_queue_or_others(suspended: list[str], owner: str | None) -> None:
    with pytest.raises(Refused, match=r"permission\.admin_only"):
        resumption(suspended_owners(*suspended), ANN, owner)


def test_a_user_who_is_not_suspended_learns_that() -> None:
    with pytest.raises(Refused, match=r"queue\.not_suspended"):
        resumption(suspended_owners("bob"), ANN, "ann")


def test_resuming_takes_no_reason(api: Served) -> None:
    assert api.ask("POST", "/queue/resume", {"reason": "done"})[0] == 400
