"""Expected runtimes: the time limit, else the longest of the last attempts of the same kind."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core import runtimes
from tarmac.core.model.job import Job
from tarmac.core.model.status import Cancelled, Failed, Running, Starting, Status, Stopping, Succeeded, Unknown
from tarmac.core.runtimes import End, Runtimes
from tests.core.support.builders import a_booking, a_job, a_spec

RAN: dict[str, Any] = {"booking": a_booking(0), "pid": 1, "started_at": 1000.0}


def ended(seconds: float, **spec: Any) -> Job:
    job = a_job(1, status=Succeeded(**RAN, ended_at=1000.0 + seconds))
    job.spec = a_spec(**spec)
    return job


def learnt(*jobs: Job) -> Runtimes:
    found = Runtimes()
    for job in jobs:
        found.learn(job)
    return found


def at_work(status: Status, **spec: Any) -> Job:
    job = a_job(2, status=status)
    job.spec = a_spec(**spec)
    return job


def test_the_limit_counts_before_any_history() -> None:
    known = learnt(ended(50.0, name="train"))
    assert known.expected_s(a_spec(name="train", time_limit_s=900.0)) == 900.0
    assert known.expected_s(a_spec(name="train")) == 50.0


def test_the_longest_of_the_last_five_counts() -> None:
    lengths = [900.0, 10.0, 30.0, 20.0, 15.0]
    known = learnt(*(ended(seconds, name="train") for seconds in lengths))
    assert known.expected_s(a_spec(name="train")) == 900.0
    known.learn(ended(5.0, name="train"))
    assert known.expected_s(a_spec(name="train")) == 30.0


def test_a_kind_is_the_owner_and_the_name_or_command() -> None:
    known = learnt(ended(50.0, name="train"), ended(70.0), ended(90.0, command=None, shell="make"))
    assert known.expected_s(a_spec(name="train", command=("other",))) == 50.0
    assert known.expected_s(a_spec()) == 70.0
    assert known.expected_s(a_spec(command=None, shell="make")) == 90.0
    assert known.expected_s(a_spec(name="train", owner="bob")) is None
    assert known.expected_s(a_spec(command=("python", "train.py", "--lr"))) is None


@pytest.mark.parametrize(
    "status",
    [
        Failed(**RAN, ended_at=1005.0, reason="exit", exit_code=1),
        Failed(**RAN, ended_at=1005.0, reason="timeout"),
        Cancelled(**RAN, ended_at=1005.0),
        Unknown(**RAN, ended_at=1005.0, message="lost"),
    ],
)
def test_only_successful_runs_are_learned(status: Status) -> None:
    assert learnt(a_job(1, status=status)).expected_s(a_spec()) is None


def test_stored_jobs_newest_first_are_learned_in_order() -> None:
    known = Runtimes()
    known.learn_all([ended(float(seconds)) for seconds in (1, 2, 3, 4, 5, 600)])
    assert known.expected_s(a_spec()) == 5.0


def test_the_least_recently_seen_kind_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "MOST_KINDS", 2)
    known = learnt(ended(1.0, name="a"), ended(2.0, name="b"), ended(3.0, name="a"), ended(4.0, name="c"))
    assert [known.expected_s(a_spec(name=name)) for name in "abc"] == [3.0, None, 4.0]


@pytest.mark.parametrize(
    ("status", "limit_s", "now", "end"),
    [
        (Running(**RAN), 100.0, 1050.0, End(at=1100.0, rests_on="limit")),
        (Running(**RAN), 100.0, 1500.0, End(at=1100.0, rests_on="limit")),
        (Running(**RAN), None, 1050.0, End(at=1060.0, rests_on="history")),
        (Running(**RAN), None, 1060.0, End(at=1060.0, rests_on="history")),
        (Running(**RAN), None, 1060.1, None),  # longer than ever before
        (Starting(booking=a_booking(0), decided_at=990.0), 100.0, 1000.0, End(at=1090.0, rests_on="limit")),
        (Stopping(**RAN, asked_at=1010.0, grace_s=7.0), 100.0, 1011.0, End(at=1017.0, rests_on="stop")),
        (Unknown(**RAN, ended_at=None, message="lost"), 100.0, 1011.0, None),
    ],
)
def test_the_expected_end_of_a_job_with_gpus(
    status: Status, limit_s: float | None, now: float, end: End | None
) -> None:
    known = learnt(ended(60.0, name="train"))
    assert known.end_of(at_work(status, name="train", time_limit_s=limit_s), now) == end


def test_the_expected_end_of_a_job_started_now() -> None:
    known = learnt(ended(60.0, name="train"))
    assert known.end_if_started(a_spec(name="train"), 500.0) == 560.0
    assert known.end_if_started(a_spec(name="new"), 500.0) is None
