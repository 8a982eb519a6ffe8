"""Reasons in words: every kind has its own, with the numbers in it."""

import time
from dataclasses import fields
from typing import Any, get_args

import msgspec
import pytest

from tarmac.api.wording.refusals import limit_reached
from tarmac.api.wording.times import at_clock
from tarmac.api.wording.why.reasons import gpu_lines, sentence
from tarmac.api.wording.why.why import reason_view
from tarmac.core.explain import reasons
from tarmac.core.fit.gpu_fit import Drained
from tarmac.core.limits import LimitReached
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.policy.eligibility import ArrayFull, Paused
from tarmac.core.policy.feasibility import TooFewGpusOnNode

NOW = time.mktime((2026, 3, 4, 12, 0, 0, 0, 0, -1))
AT = NOW + 7200  # 14:00
BOX = NodeName("box")

SAID: list[tuple[Any, str]] = [
    (reasons.HeldBy(by="ann", since=NOW - 3600), "held by ann since 11:00; run `tarmac release` to release it"),
    (reasons.IsDraft(), "this is a draft; run `tarmac release` to queue it"),
    (reasons.WaitsFor(job=JobId(7), on="ok"), "waits for job 7 to succeed"),
    (reasons.WaitsFor(job=JobId(7), on="fail"), "waits for job 7 to fail"),
    (reasons.NotBefore(at=AT), "cannot start before 14:00"),
    (Paused(by="ann", reason="tea", since=NOW), "ann paused the queue at 12:00: tea"),
    (Paused(by=None, reason=None, since=None), "Tarmac paused the queue"),
    (ArrayFull(group=JobId(3), most=2), "2 jobs of group 3 are running, the most allowed at once (max_running)"),
    (
        reasons.KeptFor(job=JobId(5), node=BOX, gpus=2, at=AT),
        "2 GPUs are held back for job 5, expected to start at ~14:00",
    ),
    (
        reasons.KeptFor(job=JobId(5), node=BOX, gpus=1, at=None),
        "1 GPU is held back for job 5; this job might delay its start",
    ),
    (
        reasons.KeptFor(job=JobId(5), node=BOX, gpus=1, at=None, is_overdue=True),
        "1 GPU is held back for job 5, which others have passed for a long time",
    ),
    (
        reasons.KeptFor(job=JobId(5), node=BOX, gpus=2, at=AT, is_overdue=True),
        "2 GPUs are held back for job 5, expected to start at ~14:00",
    ),
    (
        reasons.ReservedFor(reservation=4, owner="bob", node=BOX, begins_at=NOW, ends_at=AT),
        "the job would run into reservation 4 of bob, from 12:00 to 14:00",
    ),
    (reasons.Behind(job=JobId(9)), "job 9 goes first"),
    (reasons.NoNode(), "no machine is reachable: the agent is not connected"),
]


@pytest.mark.parametrize(("reason", "words"), SAID, ids=lambda value: type(value).__name__)
def test_a_reason_in_words(reason: Any, words: str) -> None:
    assert sentence(reason, NOW) == words


def test_a_reason_names_its_node_if_there_are_several() -> None:
    drained = Drained(by="ann", reason=None)
    few = reasons.TooFewGpus(node=BOX, asked=1, free=0, total=2, gpus=((0, drained), (1, drained)))
    assert sentence(few, NOW, nodes=2) == "box: requested 1 GPU; 0 of 2 are free"
    assert gpu_lines(few, NOW, nodes=2) == ["box GPU 0-1: drained by ann"]
    assert gpu_lines(few, NOW) == ["GPU 0-1: drained by ann"]
    assert sentence(reasons.NodeAway(node=BOX), NOW, nodes=2) == "box is unreachable"
    assert sentence(reasons.IsDraft(), NOW, nodes=2) == sentence(reasons.IsDraft(), NOW)


def test_every_kind_of_reason_has_words_and_serves_its_numbers() -> None:
    for kind in get_args(reasons.Reason):
        samples: dict[str, Any] = {"str": "memory", "NodeName": "box", "int": 1, "float": NOW, "JobId": 1, "bool": True}
        named: dict[str, Any] = {"on": "ok", "reason": "tea", "lack": TooFewGpusOnNode(asked=2, have=1)}
        given = {
            field.name: named.get(field.name, samples.get(str(field.type).split(" |")[0], ())) for field in fields(kind)
        }
        reason = kind(**given)
        assert sentence(reason, NOW), kind
        numbers = msgspec.to_builtins(reason)
        if kind is reasons.TooFewGpus:
            del numbers["gpus"]  # listed in the answer itself
        view = reason_view(reason, NOW, 1)
        assert numbers.items() <= view.items(), kind
        assert view.keys() - numbers.keys() == {"kind", "text"}


@pytest.mark.parametrize(
    ("reached", "words"),
    [
        (("max_gpus_per_job", None, 2, 0, 5), "requested 5 GPUs; max_gpus_per_job is 2: 3 too many"),
        (
            ("max_queued", None, 10, 9, 3),
            "9 jobs are waiting and 3 more submitted; max_queued is 10: 2 too many",
        ),
        (
            ("max_gpus_per_user", "ann", 4, 3.5, 1),
            "3.5 GPUs of ann are in use and 1 more requested; max_gpus_per_user of ann is 4: 0.5 too many",
        ),
        (
            ("gpu_hours_per_project", "p", 100, 100.25, 0),
            "p has used 100.2 GPU-hours in the last seven days; gpu_hours_per_project of p is 100: 0.2 too many",
        ),
        (
            ("gpu_hours_per_user", "ann", 5, 5, 0),
            "ann has used 5.0 GPU-hours in the last seven days; gpu_hours_per_user of ann is 5: used up",
        ),
        (
            ("max_queued_per_user", "ann", 1, 1, 1),
            "1 job of ann is waiting and 1 more submitted; max_queued_per_user of ann is 1: 1 too many",
        ),
    ],
)
def test_a_reached_limit_is_named_with_its_value_and_the_excess(reached: tuple[Any, ...], words: str) -> None:
    limit, name, most, used, asked = reached
    assert limit_reached(LimitReached(limit=limit, name=name, most=most, used=used, asked=asked)).message == words


def test_a_time_is_shown_as_short_as_possible() -> None:
    assert at_clock(AT, NOW) == "14:00"
    assert at_clock(NOW + 2 * 86400, NOW) == "Fri 12:00"
    assert at_clock(NOW + 20 * 86400, NOW).startswith("2026-03-24 ")
