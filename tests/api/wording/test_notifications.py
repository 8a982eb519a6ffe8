"""What notifications say."""

from typing import Any

import pytest

from tarmac.api.wording.catalogue.catalogue import speak
from tarmac.api.wording.notifications import NotificationWords, headline, problem_words, stored_problem_words
from tarmac.store.outbox import Waiting

WORDS = NotificationWords("box")
ENDED: dict[str, Any] = {
    "name": "train", "owner": "ann", "attempt": 1, "index": None, "node": "box", "gpus": [0, 1], "state": "succeeded",
    "reason": None, "exit_code": None, "signal": None, "message": None, "error_line": None, "run_s": 8000.0,
}  # fmt: skip


def an_event(event: str = "end", job: int | None = 7, token: str = "t", **detail: Any) -> Waiting:
    whole = {**ENDED, **detail} if job is not None else detail
    return Waiting(token=token, at=1_800_000_000.0, event=event, job=job, detail=whole, tries=0)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (an_event("start"), "job 7 (train) started"),
        (an_event(name=None), "job 7 succeeded"),
        (an_event(index=3), "job 7, copy 3 (train) succeeded"),
        (an_event(state="failed", reason="exit", exit_code=3), "job 7 (train) failed: exit code 3"),
        (an_event(state="failed", reason="signal", signal=9), "job 7 (train) failed: ended by SIGKILL"),
        (an_event("oom", state="failed", reason="oom-gpu", exit_code=1), "job 7 (train) failed: out of GPU memory"),
        (an_event("oom", state="failed", reason="oom-host", signal=9), "job 7 (train) failed: out of memory"),
        (an_event(state="failed", reason="timeout"), "job 7 (train) failed: it reached its time limit"),
        (an_event(state="failed", reason="of-a-later-version"), "job 7 (train) failed: of-a-later-version"),
        (an_event(state="cancelled"), "job 7 (train) was cancelled"),
        (an_event(state="unknown", reason="lost"), "job 7 (train) ended, but its outcome is unknown"),
        (
            an_event(state="unknown", reason="reboot"),
            "job 7 (train) ended, but its outcome is unknown: the machine was rebooted",
        ),
        (
            an_event("idle", message={"key": "warning.idle", "values": [["seconds", 1800.0]]}),
            "job 7 (train) is idle: its GPUs did nothing for 30 min",
        ),
        (an_event("queue-empty", job=None), "the queue is empty: no job waits or runs"),
        (
            an_event("gpu-idle", job=None, gpus=[{"node": "box", "index": 1}], idle_s=3600.0, waiting=1),
            "GPU 1 has been free for 60 min, although 1 job waits",
        ),
        (
            an_event(
                "gpu-idle",
                job=None,
                gpus=[{"node": "a", "index": 1}, {"node": "b", "index": 0}],
                idle_s=7200.0,
                waiting=5,
            ),
            "GPUs a:1, b:0 have been free for 2 h, although 5 jobs wait",
        ),
        (
            an_event("reservation-released", job=None, message={"key": "paused.stopped", "values": []}),
            "stopped; the jobs that ran are first in the queue",
        ),
        (
            an_event("retry", state="failed", reason="exit", exit_code=1, is_retried=True, wait_s=0.0),
            "job 7 (train) failed and will be retried: exit code 1",
        ),
        (
            an_event("oom", state="failed", reason="oom-gpu", is_retried=True, wait_s=0.0),
            "job 7 (train) failed and will be retried: out of GPU memory",
        ),
    ],
)
def test_the_headline_of_each_event(event: Waiting, words: str) -> None:
    assert headline(event) == words
    assert WORDS.message([event], {}).title == f"{words} [box]"


def test_a_message_is_in_english_even_if_a_chinese_request_caused_it() -> None:
    speak("zh")
    try:
        message = WORDS.message([an_event("end", state="succeeded")], {})
        assert "succeeded" in message.title
        assert message.body.startswith("run time: ")
        assert "测试消息" in WORDS.test_message("mail", "ann").title, "asked for by its reader"
    finally:
        speak(None)


def test_one_event_is_reported_in_full() -> None:
    failed = an_event("fail", state="failed", reason="exit", exit_code=1, attempt=2, error_line="ValueError: nan")
    message = WORDS.message([failed], {"t": "Aborted"})
    first = ["run time: 2 h 13 min", "GPUs: 0, 1 on box", "attempt: 2", "owner: ann"]
    assert message.body.splitlines()[:-1] == [*first, "error: ValueError: nan", "last line: Aborted"]
    assert message.body.splitlines()[-1].startswith("time: 2027-01-15 ")
    assert message.kind == "failure"
    assert "last line" not in WORDS.message([failed], {"t": "ValueError: nan"}).body  # not twice


def test_a_retry_is_a_warning_and_says_when_the_next_attempt_is() -> None:
    again = an_event("retry", state="failed", reason="exit", exit_code=1, is_retried=True, wait_s=30.0)
    message = WORDS.message([again], {})
    assert "next: attempt 2, in 30 s" in message.body.splitlines()
    assert message.kind == "warning"
    assert WORDS.message([again, again], {}).title == "2 events [box]"


def test_a_name_with_line_breaks_adds_no_line_and_no_header() -> None:
    message = WORDS.message([an_event(name="a\r\nBcc: eve@example.org\x1b[31m\x00", error_line="x\ny")], {})
    assert message.title == "job 7 (a Bcc: eve@example.org [31m ) succeeded [box]"
    assert all(line.isprintable() for line in message.body.splitlines())
    assert "error: x y" in message.body.splitlines()
    assert len(WORDS.message([an_event(name="x" * 4000)], {}).title) < 500
    assert "\r" not in WORDS.message([an_event(name="a\rb")] * 10, {}).body


def test_a_few_events_are_reported_in_full_one_after_the_other() -> None:
    message = WORDS.message([an_event(token="a"), an_event(job=8, token="b")], {"a": "one", "b": "two"})
    assert message.title == "2 jobs ended: 2 succeeded [box]"
    assert [block.splitlines()[0] for block in message.body.split("\n\n")] == [
        "job 7 (train) succeeded",
        "job 8 (train) succeeded",
    ]
    assert "last line: two" in message.body
    assert message.kind == "success"


def test_many_events_are_a_digest_with_failures_first() -> None:
    events = [an_event(job=number) for number in range(10)]
    events.append(an_event("fail", job=99, state="failed", reason="exit", exit_code=1, run_s=None))
    message = WORDS.message(events, {})
    assert message.title == "11 jobs ended: 1 failed, 10 succeeded [box]"
    lines = message.body.splitlines()
    assert lines[:2] == ["job 99 (train) failed: exit code 1", "job 0 (train) succeeded, after 2 h 13 min"]
    mixed = WORDS.message([*events, an_event("queue-empty", job=None)], {})
    assert mixed.title == "12 events [box]"


def test_a_digest_says_why_jobs_failed() -> None:
    failed = {"state": "failed", "reason": "exit", "exit_code": 1, "run_s": None}
    events = [an_event("fail", job=job, error_line=f"ValueError: {job}\nx", **failed) for job in range(4)]
    assert WORDS.message(events, {}).body.splitlines()[2] == "job 2 (train) failed: exit code 1: ValueError: 2 x"


def test_a_digest_has_the_events_of_a_job_in_the_order_of_time() -> None:
    failed = {"state": "failed", "reason": "exit", "exit_code": 1, "run_s": None}
    events = [an_event(job=7), an_event("start", job=8), an_event("start", job=9), an_event("fail", job=9, **failed)]
    lines = [line.split(" (")[0] + line.split(")")[1][:8] for line in WORDS.message(events, {}).body.splitlines()]
    assert lines == ["job 9 started", "job 9 failed:", "job 7 succeed", "job 8 started"]


def test_an_event_of_the_queue_is_reported_once() -> None:
    empty = an_event("queue-empty", job=None)
    message = WORDS.message([an_event(job=1), empty, an_event(job=2), empty._replace(token="b")], {})
    assert message.body.count("the queue is empty") == 1
    assert message.title == "3 events [box]"
    assert "queue is empty" in WORDS.message([empty, empty._replace(token="b")], {}).title


def test_a_long_digest_is_cut() -> None:
    message = WORDS.message([an_event(job=number) for number in range(2000)], {})
    assert len(message.body.splitlines()) == 51
    assert message.body.endswith("… and 1950 more")


@pytest.mark.parametrize("kind", ["failed", "timeout", "bad_url", "not_installed", "no_target", "broken"])
def test_every_problem_has_words(kind: Any) -> None:
    assert problem_words({"kind": kind, "text": "60"})
    assert stored_problem_words(f'{{"kind": "{kind}", "text": ""}}')
    assert stored_problem_words(None) is None
