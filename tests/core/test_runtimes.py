"""How long jobs run: what is known (time limits and earlier attempts of the same kind), and what is expected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.core import runtimes
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.status import Cancelled, Failed, Running, Starting, Status, Stopping, Succeeded, Unknown
from tarmac.core.runtimes import (
    CAUTION,
    LAST_OF_ALL,
    LAST_RUNS,
    LEAST_RUNS,
    LEAST_S,
    UNKNOWN_S,
    End,
    Expectation,
    LastRuns,
    Run,
    Runtimes,
)
from tests.core.support.builders import a_booking, a_job, a_node, a_spec, a_state
from tests.core.support.scene import Scene

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


def test_stored_jobs_are_learned_in_the_order_in_which_they_ended() -> None:
    """The store lists the newest id first, which need not be the job that ended last."""
    lengths = {1: 600.0, 2: 1.0, 3: 2.0, 4: 3.0, 5: 4.0, 6: 5.0}
    ends = {1: 2000.0, 2: 2600.0, 3: 2100.0, 4: 2200.0, 5: 2300.0, 6: 2400.0}
    stored = [
        replace(
            ended(0.0), id=JobId(number), status=Succeeded(**{**RAN, "started_at": at - lengths[number]}, ended_at=at)
        )
        for number, at in sorted(ends.items(), reverse=True)
    ]
    known = Runtimes()
    known.learn_all(stored)
    assert list(known.recent_s_of_width["ann", 1]) == [600.0, 2.0, 3.0, 4.0, 5.0, 1.0]
    assert known.expected_s(a_spec()) == 5.0, "the last five count, without job 1"


def test_jobs_that_never_ran_are_not_learned_from_the_store() -> None:
    known = Runtimes()
    never = Failed(booking=None, pid=None, started_at=None, ended_at=5.0, reason="dependency")
    known.learn_all([a_job(2, status=never), a_job(1, status=Cancelled(**RAN, ended_at=1005.0))])
    assert known == Runtimes()


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


# What is expected


def failed(seconds: float, **spec: Any) -> Job:
    return replace(ended(0.0, **spec), status=Failed(**RAN, ended_at=1000.0 + seconds, reason="exit", exit_code=1))


def test_an_expectation_is_the_limit_else_namesakes_else_the_owners_last_two_runs_of_that_width_else_an_hour() -> None:
    known = learnt(ended(50.0, name="train"), ended(70.0, name="eval"), ended(90.0, name="train"))
    assert known.expectation(a_spec(name="train", time_limit_s=900.0)) == Expectation(900.0, "limit")
    assert known.expectation(a_spec(name="train")) == Expectation(90.0, "history")
    assert known.expectation(a_spec(name="new")) == Expectation(80.0, "owner")
    assert known.expectation(a_spec(name="new", gpus=2)) == Expectation(UNKNOWN_S, "guess")
    assert known.expectation(a_spec(name="new", owner="bob")) == Expectation(UNKNOWN_S, "guess")
    assert [known.planning_s(a_spec(name=name)) for name in ("train", "new")] == [90.0, 80.0]


def test_a_single_run_of_that_width_is_enough_to_expect_the_same() -> None:
    assert learnt(ended(70.0, name="eval", gpus=4)).expectation(a_spec(name="new", gpus=4)) == Expectation(
        70.0, "owner"
    )


def test_only_the_last_two_runs_of_that_width_count() -> None:
    known = learnt(*(ended(seconds, name=f"run {seconds}") for seconds in (9000.0, 100.0, 300.0)))
    assert known.expectation(a_spec(name="new")) == Expectation(200.0, "owner")


@pytest.mark.parametrize("name", ["train", "new"])
def test_no_expectation_from_earlier_runs_is_shorter_than_a_few_seconds(name: str) -> None:
    assert learnt(ended(0.0, name="train")).planning_s(a_spec(name=name)) == LEAST_S
    assert learnt().planning_s(a_spec(time_limit_s=1.0)) == 1.0, "a limit counts as it is"


def test_failed_runs_teach_the_width_but_not_their_namesakes() -> None:
    known = learnt(failed(40.0, name="train"), failed(60.0, name="train"))
    assert known.expected_s(a_spec(name="train")) is None
    assert known.expectation(a_spec(name="train")) == Expectation(50.0, "owner")


@pytest.mark.parametrize(
    "status",
    [
        Cancelled(**RAN, ended_at=1005.0),
        Unknown(**RAN, ended_at=1005.0, message="lost"),
        Failed(booking=None, pid=None, started_at=None, ended_at=1005.0, reason="dependency"),
    ],
)
def test_jobs_that_did_not_end_by_themselves_teach_nothing(status: Status) -> None:
    known = learnt(a_job(1, status=status))
    assert known.planning_s(a_spec()) == UNKNOWN_S
    assert not known.last_runs.runs


def test_the_longest_of_the_last_runs_is_forgotten_with_its_run() -> None:
    last = LastRuns()
    for number in range(3 * LAST_OF_ALL):
        last.add(Run(float((number * 37) % 101), has_limit=number % 3 == 0 or number > LAST_OF_ALL))
        assert last.longest_s == max(run.seconds for run in last.runs)
        assert last.have_limits is (sum(run.has_limit for run in last.runs) * 2 > len(last.runs))
    assert len(last.runs) == LAST_OF_ALL


def test_jobs_without_gpus_do_not_count_as_long_runs() -> None:
    known = learnt(ended(5.0, gpus=0), ended(7.0))
    assert list(known.last_runs.runs) == [Run(7.0, has_limit=False)]
    assert known.last_runs.longest_s == 7.0
    assert known.planning_s(a_spec(gpus=0, name="new")) == LEAST_S


def test_the_longest_run_is_the_limit_else_namesakes_else_the_longest_of_many_of_that_width() -> None:
    runs = [ended(100.0 * number, name=f"run {number}") for number in range(1, LEAST_RUNS + 1)]
    known = learnt(*runs[:-1])
    assert known.longest_s(a_spec(name="new")) is None, "too few runs"
    known.learn(runs[-1])
    assert known.longest_s(a_spec(name="new")) == 100.0 * LEAST_RUNS
    assert known.longest_s(a_spec(name="run 1")) == 100.0
    assert known.longest_s(a_spec(name="run 1", time_limit_s=7.0)) == 7.0
    assert known.longest_s(a_spec(name="new", gpus=2)) is None


def test_a_long_run_is_forgotten_after_many_others() -> None:
    known = learnt(ended(9000.0, name="long"), *(ended(50.0, name=f"run {n}") for n in range(LAST_RUNS)))
    assert known.longest_s(a_spec(name="new")) == 50.0


def expecting(job: Job, *past: Job) -> Runtimes:
    known = learnt(*past)
    known.expect(job)
    return known


@pytest.mark.parametrize(
    ("spec", "past", "now", "end"),
    [
        ({"time_limit_s": 100.0}, (), 1050.0, End(at=1100.0, rests_on="limit")),
        ({"time_limit_s": 100.0}, (), 1500.0, End(at=1100.0, rests_on="limit")),  # its node is just stopping it
        ({"name": "train"}, (60.0,), 1050.0, End(at=1060.0, rests_on="history")),
        ({"name": "train"}, (60.0,), 1060.0, End(at=1120.0, rests_on="outlived")),
        ({"name": "train"}, (60.0,), 1119.0, End(at=1120.0, rests_on="outlived")),
        ({"name": "train"}, (60.0,), 1120.0, End(at=1240.0, rests_on="outlived")),
        ({"name": "new"}, (60.0, 40.0), 1050.0, End(at=1000.0 + CAUTION * 50.0, rests_on="owner")),
        ({"name": "new"}, (60.0, 40.0), 1100.0, End(at=1000.0 + 2 * CAUTION * 50.0, rests_on="outlived")),
        ({"name": "new"}, (), 1050.0, End(at=1000.0 + UNKNOWN_S, rests_on="guess")),
        ({"name": "new"}, (), 1000.0 + UNKNOWN_S, End(at=1000.0 + 2 * UNKNOWN_S, rests_on="guess")),
    ],
)
def test_every_running_job_has_an_expected_end_which_doubles_when_it_is_outlived(
    spec: dict[str, Any], past: tuple[float, ...], now: float, end: End
) -> None:
    job = at_work(Running(**RAN), **spec)
    known = expecting(job, *(ended(seconds, name="train") for seconds in past))
    assert known.expected_end_of(job, now) == end


def test_the_progress_of_a_job_counts_before_its_history_and_after_its_limit() -> None:
    job = at_work(Running(**RAN), name="train")
    known = expecting(job, ended(60.0, name="train"))
    known.ends_by_progress[job.id] = 5000.0
    assert known.expected_end_of(job, 1010.0) == End(at=5000.0, rests_on="progress")
    assert known.expected_end_of(job, 5000.0) == End(at=1000.0 + 60.0 * 128, rests_on="outlived"), "it was wrong"
    job.spec = replace(job.spec, time_limit_s=100.0)
    assert known.expected_end_of(job, 1010.0) == End(at=1100.0, rests_on="limit")


def test_the_expected_end_of_jobs_that_start_stop_or_are_lost() -> None:
    starting = at_work(Starting(booking=a_booking(0), decided_at=990.0), name="train")
    known = expecting(starting, ended(60.0, name="train"))
    assert known.expected_end_of(starting, 1000.0) == End(at=1050.0, rests_on="history")
    stopping = at_work(Stopping(**RAN, asked_at=1010.0, grace_s=7.0))
    assert known.expected_end_of(stopping, 5000.0) == End(at=1017.0, rests_on="stop")
    assert known.expected_end_of(at_work(Unknown(**RAN, ended_at=None, message="lost")), 1000.0) is None


def test_the_expected_end_follows_when_the_attempt_really_began() -> None:
    """The clock was set by an hour after the job started."""
    job = at_work(Running(**RAN), name="train")
    known = expecting(job, ended(60.0, name="train"))
    known.began[job.id] = 4600.0
    assert known.expected_end_of(job, 4610.0) == End(at=4660.0, rests_on="history")


def test_what_is_expected_of_an_attempt_does_not_change_while_it_runs() -> None:
    scene = Scene(gpus=2)
    scene.run(a_spec(name="first"))
    scene.run(a_spec(name="second"))
    scene.pass_s(100.0)
    scene.finish(1)
    assert scene.state.runtimes.expected[JobId(2)] == Expectation(UNKNOWN_S, "guess")
    third = scene.run(a_spec(name="third"))[0]
    assert scene.state.runtimes.expected[third].rests_on == "owner"


def test_an_attempt_that_is_over_is_forgotten_and_the_next_one_expected_anew() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(tier="preemptible", name="guest"))
    scene.submit(a_spec(owner="bob", tier="urgent"))
    scene.finish(1, exit_code=None, signal=15, was_signalled=True)
    assert set(scene.state.runtimes.expected) == {2}
    scene.begin()
    scene.finish(2)
    assert set(scene.state.runtimes.expected) == {1}


def test_after_a_restart_running_jobs_are_expected_by_what_is_learned_from_the_store() -> None:
    job = at_work(Running(**RAN), name="train")
    state = a_state(a_node(), jobs=(job,))
    assert state.runtimes.expected_end_of(job, 1010.0) == End(at=1000.0 + UNKNOWN_S, rests_on="guess")
    state.load_runtimes([ended(60.0, name="train")])
    assert state.runtimes.expected_end_of(job, 1010.0) == End(at=1060.0, rests_on="history")


def test_after_a_restart_the_same_is_known_as_before() -> None:
    """Job 2 ended last although job 3 was submitted after it."""
    scene = Scene(gpus=3)
    scene.run(*(a_spec(name=f"run {number}") for number in range(3)))
    scene.state.take_changes()
    for number, seconds in ((1, 100.0), (3, 300.0), (2, 500.0)):
        scene.pass_s(seconds)
        scene.finish(number, exit_code=int(number == 3))
    before = scene.state.runtimes
    state = a_state(a_node())
    state.load_runtimes([scene.jobs[JobId(number)] for number in (3, 2, 1)])
    assert state.runtimes.recent_s_of_width == before.recent_s_of_width
    assert (state.runtimes.recent_s, state.runtimes.last_runs) == (before.recent_s, before.last_runs)
