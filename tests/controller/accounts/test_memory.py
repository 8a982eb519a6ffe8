"""The memory that past jobs took: what is learned, and what `auto` books."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tarmac.controller.accounts.memory import STEP_BYTES, Kind, kind_of, memory_to_book, peak_to_remember, with_margin
from tarmac.core.model.attempt import Ended, attempt_of, end_of
from tarmac.core.model.gpu import BookedGpu, Gpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import Request
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Booking, Cancelled, Failed, Succeeded
from tarmac.core.state import State
from tarmac.store.accounts import Usage
from tests.core.support.builders import BOX, a_booking, a_job, a_spec

G = 2**30
ENDED: dict[str, Any] = {"booking": a_booking(0), "pid": 1, "started_at": 1.0, "ended_at": 9.0}


def learned(ended: Ended, peak: int | None = 5 * G, booked: int = 8 * G, part: float = 1.0) -> int | None:
    gpu = BookedGpu(uuid=GpuUuid("g0"), index=0, memory_bytes=booked, part=part)
    attempt = attempt_of(JobId(1), 1, Booking(node=BOX, gpus=(gpu,)), ended, end_of(ended), 9.0)
    found = peak_to_remember(a_job(1), attempt, Usage(1, peak), a_state(24 * G))
    return None if found is None else found.peak_bytes


def test_attempts_that_ran_to_their_end_or_limit_teach_what_they_took() -> None:
    assert learned(Succeeded(**ENDED)) == 5 * G
    assert learned(Failed(**ENDED, reason="timeout")) == 5 * G


def test_attempts_that_failed_or_were_stopped_teach_nothing() -> None:
    assert learned(Failed(**ENDED, reason="exit", exit_code=1)) is None
    assert learned(Cancelled(**ENDED)) is None


def test_an_attempt_that_ran_out_of_memory_needed_more_than_it_had() -> None:
    assert learned(Failed(**ENDED, reason="oom-gpu")) == 8 * G
    assert learned(Failed(**ENDED, reason="oom-gpu"), peak=9 * G) == 9 * G


def test_an_attempt_that_ran_out_of_memory_on_a_whole_gpu_needed_more_than_that() -> None:
    assert learned(Failed(**ENDED, reason="oom-gpu"), peak=20 * G, booked=0) == 24 * G
    assert learned(Failed(**ENDED, reason="oom-gpu"), booked=0, part=0.5) == 12 * G
    assert memory_to_book([24 * G], Request(), a_state(24 * G)) == 24 * G, "all of it, and not 1.15 of what was seen"


@pytest.mark.parametrize("peak", [None, 0])
def test_memory_that_was_not_seen_teaches_nothing(peak: int | None) -> None:
    assert learned(Succeeded(**ENDED), peak) is None


def test_jobs_are_recognised_by_name_or_else_by_command() -> None:
    job = a_job(1)
    job.spec = a_spec(name="train")
    assert kind_of(job).key == "name:train"
    job.spec = a_spec(command=("python", "a.py"))
    assert kind_of(job).key.startswith("command:")
    assert "python" not in kind_of(job).key, "a command may contain secrets"
    keys = {Kind("ann", None, command).key for command in (("a", "b"), ("a b",), "a b", ("a",), ("b", "a"), "")}
    assert len(keys) == 6
    assert Kind("ann", "command:x", None).key == "name:command:x", "a name is never taken for a command"


def a_state(*sizes: int, rules: Rules | None = None) -> State:
    state = State()
    state.rules = rules or Rules()
    for index, size in enumerate(sizes):
        gpu = Gpu(uuid=GpuUuid(f"g{index}"), index=index, model=f"m{index}", memory_total_bytes=size)
        state.node(BOX).gpus[gpu.uuid] = gpu
    return state


def test_auto_books_the_highest_peak_with_a_margin() -> None:
    booked = memory_to_book([4 * G, 9 * G, 5 * G], Request(), a_state(24 * G))
    assert booked == with_margin(9 * G)
    assert 9 * G * 1.1 < booked < 9 * G * 1.25
    assert booked % STEP_BYTES == 0


def test_the_margin_does_not_exclude_the_gpus_that_it_ran_on() -> None:
    assert memory_to_book([23 * G], Request(), a_state(24 * G, 80 * G)) == 24 * G


def test_auto_takes_whole_gpus_where_nothing_is_known_or_no_gpu_can_share_that_much() -> None:
    assert memory_to_book([], Request(), a_state(24 * G)) is None
    assert memory_to_book([30 * G], Request(), a_state(24 * G)) is None
    assert memory_to_book([30 * G], Request(gpu_models=("m0",)), a_state(24 * G, 80 * G)) is None
    kept = replace(Rules(), keep_gpu_memory=0.5)
    assert memory_to_book([13 * G], Request(), a_state(24 * G, rules=kept)) is None
    assert memory_to_book([11 * G], Request(), a_state(24 * G, rules=kept)) == 12 * G


def test_auto_works_before_any_gpu_is_known() -> None:
    assert memory_to_book([9 * G], Request(), State()) == with_margin(9 * G)
