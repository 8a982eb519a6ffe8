from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tarmac.controller.submit.dependencies import Dependencies, refuse_circle_of_new, refuse_circle_with, with_outcomes
from tarmac.core.events import JobEdited, JobsSubmitted
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import After, JobSpec
from tarmac.core.state import State
from tarmac.refusal import Refused
from tarmac.store.store import Store
from tests.core.support.builders import a_job, a_spec, a_state, a_status
from tests.store.kept import changed, commit, new, opened


@pytest.fixture
def store(tmp_path: Path):
    with opened(tmp_path / "tarmac.db") as store:
        yield store


def after(*numbers: int, on: str = "ok") -> tuple[After, ...]:
    return tuple(After(job=JobId(number), on=on) for number in numbers)


def waiting_for(*numbers: int) -> JobSpec:
    return a_spec(after=after(*numbers))


def test_words_are_read_as_people_write_them(store: Store) -> None:
    commit(store, new(a_job(7)))
    state = a_state(jobs=(a_job(7), a_job(8)))
    read = Dependencies(state, store.reader, "ann", siblings=2).read
    assert read(["7"]) == after(7)
    assert read(["7:any", "8:fail"]) == (*after(7, on="any"), *after(8, on="fail"))
    assert read(["#0", "#1:any"]) == (*after(-1), *after(-2, on="any"))
    assert read(["last", "7:ok", "7"]) == after(7), "said three times"
    assert read([]) == ()


@pytest.mark.parametrize("word", ["7:never", "x", "#2", "#x", "#", "-1", "7-8", ":ok", "#-1", "٧", "#١"])
def test_malformed_words_are_refused(store: Store, word: str) -> None:
    state = a_state(jobs=(a_job(7), a_job(8)))
    with pytest.raises(Refused) as caught:
        Dependencies(state, store.reader, "ann", siblings=2).read([word])
    assert caught.value.kind == "refused"


@pytest.mark.parametrize("words", [["7", "7:fail"], ["8:fail", "7:fail", "7:ok"], ["#0:ok", "#0:fail"]])
def test_waiting_for_opposite_outcomes_of_one_job_is_refused(store: Store, words: list[str]) -> None:
    read = Dependencies(a_state(jobs=(a_job(7), a_job(8))), store.reader, "ann", siblings=1).read
    with pytest.raises(Refused) as caught:
        read(words)
    assert (caught.value.key, caught.value.values) == ("after.opposites", {"job": 7 if "7" in words[-1] else "#0"})
    assert len(read(["7", "7:any", "8:fail"])) == 3


def test_an_unknown_job_is_named(store: Store) -> None:
    with pytest.raises(Refused) as caught:
        Dependencies(State(), store.reader, "ann").read(["99:any"])
    assert (caught.value.kind, caught.value.values) == ("not_found", {"job": 99})


def test_an_ended_job_may_be_named(store: Store) -> None:
    commit(store, new(a_job(7, status=a_status("succeeded"))))
    assert Dependencies(State(), store.reader, "ann").read(["7"]) == after(7)


@pytest.mark.parametrize(
    ("waits", "named"),
    [
        ([(-1,)], "#0 after #0"),
        ([(-2,), (-1,)], "#0 after #1 after #0"),
        ([(), (-3,), (-4,), (-2,)], "#1 after #2 after #3 after #1"),
        ([(-2, -3), (), (5, -1)], "#0 after #2 after #0"),
    ],
)
def test_a_circle_among_new_jobs_is_named(waits: list[tuple[int, ...]], named: str) -> None:
    with pytest.raises(Refused) as caught:
        refuse_circle_of_new([waiting_for(*numbers) for numbers in waits])
    assert (caught.value.key, caught.value.values["circle"]) == ("after.circle", named.split(" after "))


def test_diamonds_and_long_chains_are_not_circles() -> None:
    diamond = [waiting_for(-2, -3), waiting_for(-4), waiting_for(-4), waiting_for(12)]
    chain = [waiting_for(-(number + 2)) for number in range(20_000)] + [a_spec()]
    refuse_circle_of_new(diamond)
    refuse_circle_of_new(chain)
    with pytest.raises(Refused, match=r"after\.circle"):
        refuse_circle_of_new([*chain[:9], waiting_for(-1)])


def test_a_circle_through_waiting_jobs_is_named() -> None:
    jobs = (a_job(1), replace(a_job(2), spec=waiting_for(1)), replace(a_job(3), spec=waiting_for(2)))
    state = a_state(jobs=jobs)
    refuse_circle_with(state, {JobId(3): after(1)})
    with pytest.raises(Refused) as caught:
        refuse_circle_with(state, {JobId(1): after(3)})
    assert caught.value.values == {"circle": ["1", "3", "2", "1"]}
    with pytest.raises(Refused) as caught:
        refuse_circle_with(state, {JobId(3): after(2), JobId(2): after(2)})
    assert caught.value.values == {"circle": ["2", "2"]}


def test_an_outcome_is_known_even_if_the_job_ended_in_the_same_commit(store: Store) -> None:
    commit(store, new(a_job(1), a_job(2), a_job(3), a_job(4)))
    commit(store, changed(a_job(1, status=a_status("succeeded")), a_job(2, status=a_status("cancelled"))))
    state = store.load()
    ended = state.jobs[JobId(3)]
    state.enter(ended, a_status("succeeded"))
    event = JobsSubmitted(specs=(waiting_for(1, 2), waiting_for(3, 4, -1)))
    told = with_outcomes(event, state, store.reader)
    assert told == replace(event, ended=((1, "ok"), (2, "fail"), (3, "ok")))
    edited = JobEdited(job=JobId(4), spec=waiting_for(2), by="ann")
    assert with_outcomes(edited, state, store.reader) == replace(edited, ended=((2, "fail"),))


def test_an_event_without_dependencies_is_unchanged(store: Store) -> None:
    event = JobsSubmitted(specs=(a_spec(),))
    assert with_outcomes(event, State(), store.reader) is event
