"""Unhealthy GPUs, idle jobs and overbooked jobs, with artificial readings."""

from __future__ import annotations

import pytest

from tarmac.api.wording.notes import note_words
from tarmac.core.commands import Notify, SignalJob
from tarmac.core.events import (
    GpusForgotten,
    GpusResumed,
    JobStarted,
    NodeSampled,
    Reported,
    RulesSet,
    SlotsSet,
    TimePassed,
)
from tarmac.core.machine import handle
from tarmac.core.model.gpu import GpuUse
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import Request
from tarmac.core.model.note import note
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Running, Stopping
from tarmac.core.state import State
from tests.core.fit.test_gpu_fit import BOX, G, a_gpu, a_machine, queue, where

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
    return [note_words(line.detail["message"]) for line in state.changes.story if line.kind == "Warned"]


def stay(state: State, since: float, until: float, load: float | None, **more: object) -> list[object]:
    """Repeat the same reading. Returns the commands that follow."""
    steps = int((until - since) // 10)
    sent = [command for step in range(1, steps + 1) for command in read(state, since + 10 * step, load, **more)]
    return sent + read(state, until, load, **more)


def play(state: State, trace: list[tuple[float, float]]) -> tuple[list[str], bool]:
    """Phases of (seconds, load), read every 10 s. Returns the notifications, and whether the job was stopped."""
    now, is_stopped = 10.0, False
    for seconds, load in trace:
        for _ in range(int(seconds // 10)):
            now += 10
            is_stopped |= any(isinstance(command, SignalJob) for command in read(state, now, load))
    return warnings(state), is_stopped


def stops(state: State) -> list[str]:
    return [note_words(line.detail["why"]) for line in state.changes.story if line.kind == "StopAsked"]


def notices(before: State, action: str) -> list[object]:
    """The commands for the same idle job under this setting."""
    assert before.rules.idle_action == action
    state = a_machine(a_gpu(0))
    handle(state, RulesSet(rules=before.rules), 0.0)
    running(state)
    return [command for command in stay(state, 0.0, 5 * HOUR, 0.0) if isinstance(command, Notify)]


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
    state = a_machine(a_gpu(0))
    handle(state, RulesSet(rules=Rules(idle_action="stop")), 0.0)
    running(state)
    assert not play(state, TRACES[name])[1]


@pytest.mark.parametrize(
    "trace",
    [
        [(3 * HOUR, 0.0)],  # holds memory and never computed
        [(HOUR, 0.9), (3 * HOUR, 0.0)],  # used the GPU, then went idle
        [(10 * MINUTE, 0.5), (3 * HOUR, 0.02)],  # a notebook left open
    ],
)
def test_an_idle_job_is_warned_then_stopped(trace: list[tuple[float, float]]) -> None:
    state = a_machine(a_gpu(0))
    handle(state, RulesSet(rules=Rules(idle_action="stop")), 0.0)
    job = running(state)
    said, is_stopped = play(state, trace)
    assert said == ["its GPUs did nothing for 30 min"], "the stop has a separate line"
    assert is_stopped
    assert stops(state) == ["its GPUs did nothing for 2 h"]
    assert isinstance(state.jobs[JobId(job)].status, Stopping)


@pytest.mark.parametrize("action", ["none", "warn"])
def test_no_idle_job_is_stopped_unless_configured(action: str) -> None:
    state = a_machine(a_gpu(0))
    handle(state, RulesSet(rules=Rules(idle_action=action)), 0.0)
    job = running(state)
    said, is_stopped = play(state, [(8 * HOUR, 0.0)])
    assert len(said) == 1, "said once"
    assert (len(notices(state, action)) == 1) == (action == "warn")
    assert not is_stopped
    assert state.nodes[BOX].activity[JobId(job)].is_warned


def test_an_idle_job_is_never_stopped_before_its_warning() -> None:
    state = a_machine(a_gpu(0))
    running(state)
    handle(state, RulesSet(rules=Rules(idle_action="stop", idle_warn_s=10, idle_stop_s=10)), 0.0)
    assert read(state, 100.0, 0.0) == []
    warned = note("notice.job_warned", job=1, warning=note("warning.idle", seconds=11.0))
    assert read(state, 111.0, 0.0) == [Notify(what="job-warned", message=warned, job=JobId(1))]
    assert warnings(state) == ["its GPUs did nothing for 11 s"]
    told, *_ = sent = read(state, 122.0, 0.0)
    stopped = note("notice.job_stopped", job=1, warning=note("warning.idle", seconds=22.0))
    assert note_words(stopped) == "job 1 is stopped: its GPUs did nothing for 22 s"
    assert told == Notify(what="job-warned", message=stopped, job=JobId(1))
    assert any(isinstance(command, SignalJob) for command in sent)


def test_an_unknown_load_does_not_count_as_idle() -> None:
    state = a_machine(a_gpu(0))
    running(state)
    stay(state, 0.0, 10 * HOUR, None)
    assert warnings(state) == []


def test_a_gpu_that_does_not_answer_does_not_count_as_idle() -> None:
    """The last reading is outdated, so the count restarts when the GPU answers."""
    state = a_machine(a_gpu(0))
    running(state)
    stay(state, 0.0, 29 * MINUTE, 0.0)
    stay(state, 29 * MINUTE, 5 * HOUR, 0.0, health="does not answer")
    stay(state, 5 * HOUR, 5 * HOUR + 29 * MINUTE, 0.0)
    assert warnings(state) == []
    stay(state, 5 * HOUR + 29 * MINUTE, 5 * HOUR + 31 * MINUTE, 0.0)
    assert warnings(state) == ["its GPUs did nothing for 30 min"]


@pytest.mark.parametrize("gap", [31.0, 2 * HOUR, -2 * HOUR])
def test_time_without_readings_does_not_count_as_idle(gap: float) -> None:
    """The agent was away, the machine slept, or its clock was set."""
    state = a_machine(a_gpu(0))
    handle(state, RulesSet(rules=Rules(idle_action="stop")), 0.0)
    running(state)
    stay(state, 3 * HOUR, 3 * HOUR + 29 * MINUTE, 0.0)
    back = 3 * HOUR + 29 * MINUTE + gap
    handle(state, TimePassed(), back)
    stay(state, back - 10, back + 29 * MINUTE, 0.0)
    assert warnings(state) == []
    assert stops(state) == []


def test_idleness_is_noticed_between_two_readings() -> None:
    state = a_machine(a_gpu(0))
    running(state)
    stay(state, 0.0, 30 * MINUTE, 0.0)
    assert warnings(state) == []
    handle(state, TimePassed(), 30 * MINUTE + 11)
    assert warnings(state) == ["its GPUs did nothing for 30 min"]


def test_an_unhealthy_gpu_is_drained_automatically_with_the_reason() -> None:
    state = a_machine(a_gpu(0), a_gpu(1))
    health = "Xid 79: fell off the bus"
    message = note("notice.gpu_drained", gpu="GPU 0", node="box", reason=health)
    assert read(state, 10.0, 0.0, health=health) == [Notify(what="gpu-drained", message=message)]
    assert read(state, 11.0, 0.0, health=health) == [], "told once"
    drain = state.nodes[BOX].drains[GpuUuid("g0")]
    assert (drain.reason, drain.by) == ("Xid 79: fell off the bus", None)
    assert where(state, queue(state, Request())[0]) == [1]


def test_a_gpu_is_resumed_after_healthy_s() -> None:
    state = a_machine(a_gpu(0))
    read(state, 10.0, 0.0, health="does not answer")
    stay(state, 10.0, 319.0, 0.0)
    assert GpuUuid("g0") in state.nodes[BOX].drains
    read(state, 319.5, 0.0, health="does not answer")
    stay(state, 310.0, 619.0, 0.0)
    assert GpuUuid("g0") in state.nodes[BOX].drains, "it has to be well for all that time"
    handle(state, TimePassed(), 620.0)
    assert GpuUuid("g0") not in state.nodes[BOX].drains


def test_silence_does_not_count_as_healthy() -> None:
    """The hour in which the agent was away does not count as healthy."""
    state = a_machine(a_gpu(0))
    read(state, 10.0, 0.0, health="2 uncorrectable memory errors (ECC)")
    read(state, 20.0, 0.0)
    handle(state, TimePassed(), HOUR)
    read(state, HOUR + 1, 0.0)
    assert GpuUuid("g0") in state.nodes[BOX].drains
    stay(state, HOUR + 1, HOUR + 302, 0.0)
    assert GpuUuid("g0") not in state.nodes[BOX].drains


def test_a_forgotten_gpu_leaves_no_trace() -> None:
    state = a_machine(a_gpu(0), a_gpu(1))
    g0 = GpuUuid("g0")
    handle(state, SlotsSet(node=BOX, gpus=(g0,), slots=2), 0.0)
    read(state, 10.0, 0.0, health="vanished from the driver")
    handle(state, GpusForgotten(node=BOX, gpus=(g0,)), 20.0)
    node = state.nodes[BOX]
    assert (list(node.gpus), node.drains, node.slots, node.uses) == (["g1"], {}, {}, {})
    assert state.changes.gpus[BOX, g0] == (None, 1), "on disk, too"


def test_only_a_person_resumes_what_a_person_drained() -> None:
    from tarmac.core.events import GpusDrained

    state = a_machine(a_gpu(0))
    handle(state, GpusDrained(node=BOX, gpus=(GpuUuid("g0"),), by="ann", reason="mine"), 0.0)
    read(state, 10.0, 0.0)
    handle(state, TimePassed(), 10 * HOUR)
    assert GpuUuid("g0") in state.nodes[BOX].drains
    handle(state, GpusResumed(node=BOX, gpus=(GpuUuid("g0"),)), 10 * HOUR)
    assert state.nodes[BOX].drains == {}


def take(state: State, job: int, since: float, until: float, taken_g: float, health: str | None = None) -> bool:
    """The job uses this much memory throughout. Returns whether it was stopped."""
    taken = ((JobId(job), GpuUuid("g0"), int(taken_g * G)),)
    uses = ((GpuUuid("g0"), GpuUse(load=0.9, health=health)),)
    is_stopped = False
    for step in range(int(until - since)):
        sent = handle(state, NodeSampled(node=BOX, uses=uses, taken=taken), since + step + 1)
        is_stopped |= any(isinstance(command, SignalJob) for command in sent)
    return is_stopped


def sharing(action: str, booked_g: int = 8) -> tuple[State, int]:
    state = a_machine(a_gpu(0))
    handle(state, RulesSet(rules=Rules(overbooked_action=action)), 0.0)
    return state, running(state, Request(gpu_memory_bytes=booked_g * G))


@pytest.mark.parametrize(("action", "is_stopped"), [("none", False), ("warn", False), ("stop", True)])
def test_an_overbooked_job_is_warned_and_stopped_if_configured(action: str, is_stopped: bool) -> None:
    state, job = sharing(action)
    told = "it uses 9.0G of GPU 0, but booked 8.0G"
    assert not take(state, job, 0.0, 60.0, 9.0)
    assert warnings(state) == ([] if action == "none" else [told])
    assert state.nodes[BOX].activity[JobId(job)].is_over_booking
    assert take(state, job, 60.0, 90.0, 9.0) == is_stopped
    assert len(warnings(state)) == (action != "none"), "said once"
    assert stops(state) == ([told] if is_stopped else [])
    assert isinstance(state.jobs[JobId(job)].status, Stopping if is_stopped else Running)


GREED = {
    "a CUDA context more": [(600, 1, 1.25)],
    "a twentieth more": [(600, 8, 8.4)],
    "short spikes": [(25, 8, 20.0), (5, 8, 8.0)] * 20,
}


@pytest.mark.parametrize("name", GREED)
def test_a_small_excess_or_a_short_spike_is_tolerated(name: str) -> None:
    state, job = sharing("stop", booked_g=GREED[name][0][1])
    now = 0.0
    for seconds, _, taken_g in GREED[name]:
        assert not take(state, job, now, now + seconds, taken_g)
        now += seconds
    assert warnings(state) == []
    assert not state.nodes[BOX].activity[JobId(job)].is_over_booking


def test_a_job_back_within_its_booking_is_not_stopped() -> None:
    state, job = sharing("stop")
    take(state, job, 0.0, 50.0, 9.0)
    take(state, job, 50.0, 60.0, 8.0)
    assert not take(state, job, 60.0, 115.0, 9.0), "warned anew, and not for long enough"
    assert len(warnings(state)) == 2


def test_no_job_is_stopped_on_the_old_reading_of_a_silent_gpu() -> None:
    state, job = sharing("stop")
    take(state, job, 0.0, 20.0, 9.0)
    assert not take(state, job, 20.0, 600.0, 9.0, health="does not answer")
    assert warnings(state) == []


def test_a_job_that_was_only_marked_is_warned_before_it_is_stopped() -> None:
    state, job = sharing("none")
    take(state, job, 0.0, 600.0, 9.0)
    handle(state, RulesSet(rules=Rules(overbooked_action="stop")), 600.0)
    assert not take(state, job, 600.0, 629.0, 9.0)
    assert len(warnings(state)) == 1
    assert take(state, job, 629.0, 640.0, 9.0)
