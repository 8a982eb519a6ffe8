"""Sick cards, idle jobs, greedy jobs: the rules against made-up readings."""

from __future__ import annotations

import pytest

from tarmac.core.commands import Notify, SignalJob
from tarmac.core.events import GpusResumed, JobStarted, NodeSampled, Reported, RulesSet, TimePassed
from tarmac.core.machine import handle
from tarmac.core.model import GpuUse, GpuUuid, JobId, Request, Rules, Running, Stopping
from tarmac.core.state import State
from tests.core.test_cards import BOX, G, a_card, a_machine, queue, where

MINUTE = 60.0
HOUR = 3600.0


def running(state: State, request: Request | None = None) -> int:
    (job,) = queue(state, request or Request())
    handle(state, Reported(node=BOX, report=JobStarted(job=JobId(job), attempt=1, pid=9, started_at=1.0)), 1.0)
    return job


def read(state: State, now: float, load: float | None, **more: object) -> list[object]:
    use = GpuUse(load=load, **more)  # type: ignore[arg-type]
    return list(handle(state, NodeSampled(node=BOX, uses=((GpuUuid("g0"), use),)), now))


def warnings(state: State) -> list[str]:
    return [line.detail["message"] for line in state.changes.story if line.kind == "Warned"]


def play(state: State, trace: list[tuple[float, float]]) -> tuple[list[str], bool]:
    """(seconds, load) after each other, read every 10 s. What was said, and whether the job was stopped."""
    now, is_stopped = 10.0, False
    for seconds, load in trace:
        for _ in range(int(seconds // 10)):
            now += 10
            is_stopped |= any(isinstance(command, SignalJob) for command in read(state, now, load))
    return warnings(state), is_stopped


def notices(before: State, action: str) -> list[object]:
    """What is sent out where the same job idles under that setting."""
    assert before.rules.idle_action == action
    state = a_machine(a_card(0))
    handle(state, RulesSet(rules=before.rules), 0.0)
    running(state)
    sent = [*read(state, 10.0, 0.0), *read(state, 10.0 + 31 * MINUTE, 0.0), *read(state, 10.0 + 5 * HOUR, 0.0)]
    return [command for command in sent if isinstance(command, Notify)]


TRACES = {
    "training": [(4 * HOUR, 0.9)],
    "data loading gaps": [(20.0, 0.95), (40.0, 0.0)] * 200,
    "evaluation pauses": [(HOUR, 0.9), (20 * MINUTE, 0.01)] * 4,
    "a long download first": [(25 * MINUTE, 0.0), (4 * HOUR, 0.8)],
    "one short kernel now and then": [(10.0, 0.5), (25 * MINUTE, 0.0)] * 12,
    "checkpoint upload for an hour": [(2 * HOUR, 0.9), (HOUR, 0.0), (2 * HOUR, 0.9)],
}


@pytest.mark.parametrize("name", TRACES)
def test_no_false_stop_at_the_default_thresholds(name: str) -> None:
    state = a_machine(a_card(0))
    handle(state, RulesSet(rules=Rules(idle_action="stop")), 0.0)
    running(state)
    assert not play(state, TRACES[name])[1]


@pytest.mark.parametrize(
    "trace",
    [
        [(3 * HOUR, 0.0)],  # holds memory and never computed
        [(HOUR, 0.9), (3 * HOUR, 0.0)],  # used the card, then went idle
        [(10 * MINUTE, 0.5), (3 * HOUR, 0.02)],  # a notebook left open
    ],
)
def test_a_job_that_holds_cards_for_nothing_is_warned_then_stopped(trace: list[tuple[float, float]]) -> None:
    state = a_machine(a_card(0))
    handle(state, RulesSet(rules=Rules(idle_action="stop")), 0.0)
    job = running(state)
    said, is_stopped = play(state, trace)
    assert said[0] == "its GPUs did nothing for 30 min"
    assert is_stopped
    assert isinstance(state.jobs[JobId(job)].status, Stopping)


@pytest.mark.parametrize("action", ["none", "warn"])
def test_nobody_is_stopped_unless_that_was_set(action: str) -> None:
    state = a_machine(a_card(0))
    handle(state, RulesSet(rules=Rules(idle_action=action)), 0.0)
    job = running(state)
    said, is_stopped = play(state, [(8 * HOUR, 0.0)])
    assert len(said) == 1, "said once"
    assert (len(notices(state, action)) == 1) == (action == "warn")
    assert not is_stopped
    assert state.nodes[BOX].activity[JobId(job)].is_warned


def test_never_stopped_before_the_warning_even_when_the_setting_comes_late() -> None:
    state = a_machine(a_card(0))
    running(state)
    handle(state, RulesSet(rules=Rules(idle_action="stop", idle_warn_s=10, idle_stop_s=10)), 0.0)
    assert read(state, 100.0, 0.0) == []
    said = "its GPUs did nothing for 0 min"
    assert read(state, 111.0, 0.0) == [Notify(what="job-warned", message=f"job 1: {said}", job=JobId(1))]
    assert warnings(state) == [said]
    assert any(isinstance(command, SignalJob) for command in read(state, 122.0, 0.0))


def test_a_load_nobody_knows_is_no_idleness() -> None:
    state = a_machine(a_card(0))
    running(state)
    read(state, 10.0, None)
    read(state, 10 * HOUR, None)
    assert warnings(state) == []


def test_idleness_is_noticed_without_new_readings() -> None:
    state = a_machine(a_card(0))
    running(state)
    read(state, 10.0, 0.0)
    handle(state, TimePassed(), 10.0 + 31 * MINUTE)
    assert warnings(state) == ["its GPUs did nothing for 31 min"]


def test_a_sick_card_is_drained_by_itself_with_the_reason() -> None:
    state = a_machine(a_card(0), a_card(1))
    message = "GPU 0 on box is not used any more: Xid 79: fell off the bus"
    health = "Xid 79: fell off the bus"
    assert read(state, 10.0, 0.0, health=health) == [Notify(what="gpu-drained", message=message)]
    assert read(state, 11.0, 0.0, health=health) == [], "told once"
    drain = state.nodes[BOX].drains[GpuUuid("g0")]
    assert (drain.reason, drain.by) == ("Xid 79: fell off the bus", None)
    assert where(state, queue(state, Request())[0]) == [1]


def test_it_comes_back_after_it_was_well_for_long_enough() -> None:
    state = a_machine(a_card(0))
    read(state, 10.0, 0.0, health="does not answer")
    read(state, 20.0, 0.0)
    handle(state, TimePassed(), 319.0)
    assert GpuUuid("g0") in state.nodes[BOX].drains
    read(state, 319.5, 0.0, health="does not answer")
    read(state, 320.0, 0.0)
    handle(state, TimePassed(), 619.0)
    assert GpuUuid("g0") in state.nodes[BOX].drains, "it has to be well for all that time"
    handle(state, TimePassed(), 620.0)
    assert GpuUuid("g0") not in state.nodes[BOX].drains


def test_what_a_person_drained_only_a_person_takes_back() -> None:
    from tarmac.core.events import GpusDrained

    state = a_machine(a_card(0))
    handle(state, GpusDrained(node=BOX, gpus=(GpuUuid("g0"),), by="ann", reason="mine"), 0.0)
    read(state, 10.0, 0.0)
    handle(state, TimePassed(), 10 * HOUR)
    assert GpuUuid("g0") in state.nodes[BOX].drains
    handle(state, GpusResumed(node=BOX, gpus=(GpuUuid("g0"),)), 10 * HOUR)
    assert state.nodes[BOX].drains == {}


@pytest.mark.parametrize(("action", "is_stopped"), [("none", False), ("warn", False), ("stop", True)])
def test_a_job_that_takes_more_than_it_booked_is_told(action: str, is_stopped: bool) -> None:
    state = a_machine(a_card(0))
    handle(state, RulesSet(rules=Rules(overbooked_action=action)), 0.0)
    job = running(state, Request(gpu_memory_bytes=8 * G))
    taken = ((JobId(job), GpuUuid("g0"), 9 * G),)
    sampled = NodeSampled(node=BOX, uses=((GpuUuid("g0"), GpuUse(load=0.9)),), taken=taken)
    commands = handle(state, sampled, 10.0)
    assert any(isinstance(command, SignalJob) for command in commands) == is_stopped
    assert warnings(state) == ([] if action == "none" else ["takes 9.0 G of GPU 0, 8.0 G are booked"])
    if not is_stopped:
        assert isinstance(state.jobs[JobId(job)].status, Running)
        assert state.nodes[BOX].activity[JobId(job)].is_over_booking
