"""Which notifications a decision causes."""

from dataclasses import replace
from typing import Any

import pytest

from tarmac.controller.notify.job_events import notifications
from tarmac.controller.notify.targets import Subscription
from tarmac.core.changes import Changes, StoryLine
from tarmac.core.commands import Notify
from tarmac.core.model.attempt import Attempt, attempt_of
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.names import AttemptEnd, Failure
from tarmac.core.model.note import note
from tarmac.core.model.status import Failed, Queued, Status
from tarmac.core.state import State
from tarmac.shared.names import JOB_EVENTS
from tarmac.store.outbox import Notification
from tests.core.support.builders import a_booking, a_job, a_status

ALL = Subscription("", "team", ("queue-empty", "gpu-drained"))


def asking(status: Status, on: tuple[str, ...] = JOB_EVENTS, targets: tuple[str, ...] = ("mail",)) -> Job:
    job = a_job(7, status=status)
    return replace(job, attempt=2, spec=replace(job.spec, notify=targets, notify_on=on, name="train"))


def found(job: Job, *kinds: str, **detail: Any) -> list[Notification]:
    lines = [StoryLine(job=job.id, attempt=2, at=5.0, kind=kind, detail=detail) for kind in kinds]
    changes = Changes(changed={job.id: job}, story=lines)
    return notifications(changes, [], State(), [], now=10.0, due_at=20.0)


def failed(reason: str) -> Failed:
    status = a_status("failed", a_booking(1))
    assert isinstance(status, Failed)
    return replace(status, reason=reason)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "on", "event"),
    [
        (a_status("succeeded", a_booking(1)), JOB_EVENTS, "end"),
        (a_status("succeeded", a_booking(1)), ("fail", "oom", "start"), None),
        (a_status("cancelled", a_booking(1)), JOB_EVENTS, "end"),
        (a_status("cancelled", a_booking(1)), ("fail",), None),
        (a_status("unknown-ended", a_booking(1)), ("fail",), "fail"),
        (a_status("unknown", a_booking(1)), JOB_EVENTS, None),  # its processes may still run
        (failed("exit"), ("end",), "end"),
        (failed("exit"), JOB_EVENTS, "fail"),
        (failed("exit"), ("oom",), None),
        (failed("oom-gpu"), JOB_EVENTS, "oom"),
        (failed("oom-host"), ("oom",), "oom"),
        (failed("oom-gpu"), ("fail",), "fail"),
        (failed("oom-gpu"), ("end",), "end"),
        (failed("launch"), ("start", "fail"), "fail"),
        (failed("reason-of-a-later-version"), ("fail",), "fail"),
    ],
)
def test_an_end_has_its_most_specific_word(status: Status, on: tuple[str, ...], event: str | None) -> None:
    assert [one.event for one in found(asking(status, on), "JobExited")] == ([] if event is None else [event])


def test_a_start_is_reported() -> None:
    (one,) = found(asking(a_status("running", a_booking(1)), ("start",)), "Decided", "JobStarted")
    assert (one.event, one.job, one.target, one.at, one.due_at) == ("start", 7, "mail", 10.0, 20.0)


def test_of_warnings_only_idleness_is_reported() -> None:
    running = asking(a_status("running", a_booking(1)))
    (one,) = found(running, "Warned", message=note("warning.idle", seconds=60.0))
    assert (one.event, one.detail["message"]["key"]) == ("idle", "warning.idle")
    assert found(running, "Warned", message=note("warning.overbooked", gpu=0)) == []
    assert found(running, "Warned", message="a sentence of an older version") == []


def test_a_start_and_an_end_in_one_commit_are_both_reported() -> None:
    events = [one.event for one in found(asking(a_status("succeeded", a_booking(1))), "JobStarted", "JobExited")]
    assert events == ["start", "end"]


def test_each_target_gets_one_with_a_token_of_its_own() -> None:
    made = found(asking(failed("exit"), targets=("a", "b")), "JobExited")
    assert [(one.target, one.owner) for one in made] == [("a", made[0].owner), ("b", made[0].owner)]
    assert made[0].token != made[1].token


def test_a_job_without_targets_causes_none() -> None:
    assert found(asking(failed("exit"), targets=()), "JobStarted", "JobExited") == []


def test_the_detail_has_what_the_message_says() -> None:
    (one,) = found(asking(failed("exit")), "JobExited")
    assert one.detail["name"] == "train"
    assert one.detail["attempt"] == 2
    assert (one.detail["state"], one.detail["reason"]) == ("failed", "exit")
    assert one.detail["gpus"]
    assert one.detail["node"]
    assert one.detail["run_s"] is not None


def an_attempt(number: int = 2, end: AttemptEnd = "failed", reason: Failure = "exit") -> Attempt:
    return attempt_of(JobId(7), number, a_booking(1), failed(reason), end, 100.0)


@pytest.mark.parametrize(
    ("status", "attempt", "events"),
    [
        (Queued(since=1.0, retry_wait_s=30.0), an_attempt(), ["retry"]),
        (Queued(since=1.0), an_attempt(reason="oom-gpu"), ["oom"]),
        (Queued(since=1.0), an_attempt(end="preempted"), []),
        (Queued(since=1.0), an_attempt(end="requeued"), []),
        (a_status("starting", a_booking(1)), an_attempt(number=1), ["retry"]),  # it was started again at once
        (failed("exit"), an_attempt(), ["fail"]),  # the last attempt
        (failed("exit"), an_attempt(number=1), ["retry", "fail"]),
        (a_status("unknown", a_booking(1)), an_attempt(end="unknown"), []),  # its processes may still run
    ],
)
def test_an_attempt_after_which_the_job_is_tried_again_is_a_retry(
    status: Status, attempt: Attempt, events: list[str]
) -> None:
    job = asking(status)
    made = notifications(Changes(changed={job.id: job}, attempts=[attempt]), [], State(), [], now=10.0, due_at=20.0)
    assert [one.event for one in made] == events
    if events[:1] == ["retry"]:
        assert made[0].detail["attempt"] == attempt.number
        assert made[0].detail["reason"] == "exit"


def of_queue(state: State, *commands: Notify, job: Job | None = None) -> list[tuple[str, str]]:
    changes = Changes(changed={} if job is None else {job.id: job})
    made = notifications(changes, commands, state, [ALL], now=10.0, due_at=20.0)
    return [(one.target, one.event) for one in made]


def test_the_queue_is_empty_when_the_last_job_ends() -> None:
    ended = a_job(1, status=failed("exit"))
    assert of_queue(State(), job=ended) == [("team", "queue-empty")]
    assert of_queue(State()) == []  # nothing ended
    waiting = State()
    waiting.accept([a_job(2, status=Queued())])
    assert of_queue(waiting, job=ended) == []


def test_subscribers_get_the_events_of_the_queue_that_notify_command_gets() -> None:
    drained = Notify(what="gpu-drained", message=note("notice.gpu_drained", gpu="GPU 0", node="box", reason="Xid 79"))
    warned = Notify(what="job-warned", message=note("notice.job_warned", job=1, warning=None))
    assert of_queue(State(), drained, warned) == [("team", "gpu-drained")]
