"""What the core concluded, as a person reads it."""

from dataclasses import replace
from typing import get_args

import msgspec
import pytest

from tarmac.api.wording.english import ENGLISH
from tarmac.api.wording.notes import basis_words, note_words, status_message, story_detail, words
from tarmac.core.model.ids import JobId
from tarmac.core.model.note import Note, NoteKey, note
from tarmac.core.model.plan import RestsOn
from tarmac.core.model.status import Queued, Requeue
from tests.core.support.builders import a_job, a_status

IDLE = note("warning.idle", seconds=1800.0)


def test_every_note_of_the_core_has_a_sentence() -> None:
    assert set(get_args(NoteKey)) <= set(ENGLISH)


@pytest.mark.parametrize(
    ("noted", "sentence"),
    [
        (note("requeue.preempted", for_job=7), "was preempted for job 7"),
        (note("requeue.preempted", for_job=None), "was preempted"),
        (note("requeue.queue_stopped", by="ann"), "ann stopped the queue"),
        (
            note("dependency.unmet", job=3, outcome="fail", on="ok"),
            "job 3 did not succeed, but this job was to start only if it succeeded",
        ),
        (
            note("dependency.unmet", job=3, outcome=None, on="any"),
            "job 3 no longer exists, but this job was to start only if it ended",
        ),
        (
            note("suspended.failures", owner="ann", count=10, within_s=5.0, job=17, reason="exit", detail=127),
            "the last 10 jobs of ann failed within 5 s of starting; the newest was job 17 (exit code 127)",
        ),
        (
            note("suspended.failures", owner="ann", count=2, within_s=5.0, job=1, reason="timeout", detail=None),
            "the last 2 jobs of ann failed within 5 s of starting; the newest was job 1 (timeout)",
        ),
        (
            note("suspended.failures", owner="ann", count=2, within_s=5.0, job=1, reason="signal", detail=9),
            "the last 2 jobs of ann failed within 5 s of starting; the newest was job 1 (ended by SIGKILL)",
        ),
        (
            note("suspended.failures_alike", owner="ann", count=3, within_s=5.0, alike=2, line="no module torch"),
            "the last 3 jobs of ann failed within 5 s of starting, 2 of them with: no module torch",
        ),
        (note("requeue.failed", reason="exit", detail=3), "exited with code 3"),
        (note("requeue.failed", reason="signal", detail=11), "was ended by SIGSEGV"),
        (note("requeue.failed", reason="signal", detail=40), "was ended by signal 40"),
        (note("requeue.failed", reason="oom-gpu", detail=None), "ran out of GPU memory"),
        (note("requeue.time_limit"), "reached its time limit"),
        (note("requeue.retried", by="ann"), "ann retried it"),
        (note("notice.job_stopped", job=1, warning=IDLE), "job 1 is stopped: its GPUs did nothing for 30 min"),
    ],
)
def test_a_note_is_a_sentence(noted: Note, sentence: str) -> None:
    assert note_words(noted) == sentence


def test_a_persons_words_and_those_of_an_old_database_stay_as_they_are() -> None:
    assert words("the disk is full") == "the disk is full"
    assert words(None) is None
    assert story_detail({"why": "made room for job 7", "gpus": [1], "by": None}) == {
        "why": "made room for job 7",
        "gpus": [1],
        "by": None,
    }


def test_a_note_in_a_stored_story_is_a_sentence_again() -> None:
    stored = msgspec.json.decode(msgspec.json.encode({"why": note("notice.job_warned", job=1, warning=IDLE)}))
    assert story_detail(stored) == {"why": "job 1: its GPUs did nothing for 30 min"}


@pytest.mark.parametrize(
    ("noted", "readable"),
    [
        (Note("requeue.from_2031", (("for_job", 7), ("by", None))), "requeue: from 2031 (for job 7)"),
        (Note("gone"), "gone"),
        (Note("requeue.preempted", (("because_of", 7),)), "requeue: preempted (because of 7)"),
        (
            note("notice.job_warned", job=1, warning=Note("warning.hot", (("celsius", 99),))),
            "job 1: warning: hot (celsius 99)",
        ),
    ],
)
def test_a_note_of_another_version_is_still_readable(noted: Note, readable: str) -> None:
    assert note_words(noted) == readable
    stored = msgspec.json.decode(msgspec.json.encode({"why": noted}))
    assert story_detail(stored) == {"why": readable}


def test_a_job_that_waits_again_tells_why() -> None:
    requeued = Requeue(why="preempted", for_job=JobId(7))
    job = replace(a_job(1, status=Queued(requeued=requeued)), attempt=2)
    assert status_message(job) == "attempt 2 was preempted for job 7"
    assert status_message(a_job(1, status=a_status("running"))) is None


@pytest.mark.parametrize(
    ("rests_on", "basis"),
    [
        (frozenset(), "what is free now"),
        (frozenset({"limit"}), "the time limits of jobs"),
        (frozenset({"history", "stop"}), "jobs that are stopping and how long earlier jobs of this kind took"),
    ],
)
def test_what_an_estimate_rests_on(rests_on: frozenset[RestsOn], basis: str) -> None:
    assert basis_words(rests_on) == basis
