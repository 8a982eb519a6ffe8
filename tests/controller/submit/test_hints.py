"""Hints about memory come when they are useful, and only then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from tarmac.api.wording.hints import memory_hint_words
from tarmac.controller.accounts.memory import PastMemory, with_margin
from tarmac.controller.submit.hints import MOST_LOOKED_AT, memory_hints
from tarmac.controller.submit.request import JobRequest
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.job import Request
from tarmac.core.state import State
from tarmac.store.reader import Reader
from tests.core.support.builders import BOX, a_spec

G = 2**30


class Stored:
    """What the store knows, and how often it was asked."""

    def __init__(self, *peaks: int) -> None:
        self.peaks, self.asked = list(peaks), 0

    def memory_peaks(self, owner: str, kind: str) -> list[int]:
        self.asked += 1
        return self.peaks


def a_state() -> State:
    state = State()
    state.node(BOX).gpus[GpuUuid("g0")] = Gpu(uuid=GpuUuid("g0"), index=0, memory_total_bytes=24 * G)
    return state


def hints(stored: Stored, *asked: JobRequest, **request: Any) -> Sequence[str]:
    asked = asked or (JobRequest(command=("x",), name="train"),)
    spec = replace(a_spec(name=asked[0].name), request=Request(**request))
    found = memory_hints(asked, [spec] * len(asked), PastMemory(cast("Reader", stored)), a_state())
    return [memory_hint_words(one) for one in found]


def test_a_reservation_far_above_what_was_used_is_mentioned() -> None:
    (words,) = hints(Stored(9 * G, 8 * G, 7 * G), gpu_memory_bytes=20 * G)
    advice = f"(--gpu-mem auto reserves {with_margin(9 * G) / G:.1f}G)"
    assert words == f"the last 3 runs of 'train' took up to 9.0G; you reserve 20.0G {advice}"
    assert hints(Stored(9 * G), gpu_share=0.9)[0].startswith(
        "the last run of 'train' took up to 9.0G; you reserve 21.6G"
    )


def test_whole_gpus_of_which_little_is_used_are_mentioned() -> None:
    (words,) = hints(Stored(3 * G, 2 * G))
    assert words.startswith(
        "the last 2 runs of 'train' took up to 3.0G; you reserve whole GPUs of 24.0G (with --gpu-mem"
    )


def test_a_reservation_below_what_was_used_is_mentioned() -> None:
    (words,) = hints(Stored(9 * G), gpu_memory_bytes=8 * G)
    assert words.endswith("you reserve only 8.0G, so the job may run out of memory")


@pytest.mark.parametrize(
    ("peaks", "request_"),
    [
        ((), {"gpu_memory_bytes": 20 * G}),
        ((), {}),
        ((9 * G,), {"gpu_memory_bytes": 10 * G}),
        ((9 * G,), {"gpu_memory_bytes": with_margin(9 * G)}),
        ((20 * G,), {}),
        ((13 * G,), {}),
        ((G // 4,), {"gpu_memory_bytes": G}),
        ((9 * G,), {"gpus": 0}),
    ],
)
def test_nothing_is_said_where_nothing_is_to_be_gained(peaks: tuple[int, ...], request_: dict[str, Any]) -> None:
    assert hints(Stored(*peaks), **request_) == []


def auto(name: str | None = "train") -> JobRequest:
    return JobRequest(command=("x",), name=name, gpu_memory_bytes="auto")


def test_auto_says_what_it_reserves() -> None:
    booked = with_margin(9 * G)
    assert hints(Stored(9 * G), auto(), gpu_memory_bytes=booked) == [
        f"the last run of 'train' took up to 9.0G; --gpu-mem auto reserves {booked / G:.1f}G on each GPU"
    ]
    assert hints(Stored(), auto(None))[0].startswith("no earlier run of this command is known, so this job gets whole")
    assert hints(Stored(30 * G), auto())[0].endswith("no GPU can share that much, so the job gets whole GPUs")


def test_many_jobs_get_one_hint_and_cost_one_look() -> None:
    stored = Stored(9 * G)
    assert len(hints(stored, *[JobRequest(command=("x",), name="train")] * 1000, gpu_memory_bytes=20 * G)) == 1
    assert stored.asked == 1
    assert MOST_LOOKED_AT < 1000
