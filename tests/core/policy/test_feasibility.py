"""The reported cause of a request that no node can satisfy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tarmac.core.events import Reported, RulesSet
from tarmac.core.explain.reasons import NeverFits
from tarmac.core.fit.gpu_fit import TooLittleMemory, Unsuitable
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Request
from tarmac.core.model.rules import Rules
from tarmac.core.policy.feasibility import ConstraintUnmet, HostTooSmall, Lack, TooFewGpusOnNode, lack
from tests.core.fit.test_gpu_fit import BOX, G, a_gpu, a_machine, named, queue, reasons, where
from tests.core.support.builders import a_node, a_state, exited
from tests.core.support.explaining import explain

GPUS = (a_gpu(0), a_gpu(1), a_gpu(2, model="H100", memory_g=80), a_gpu(3))


@pytest.mark.parametrize(
    ("asked", "lacking"),
    [
        (Request(gpus=5, gpu_models=("v100",)), TooFewGpusOnNode(asked=5, have=4)),
        (Request(gpu_models=("v100",)), ConstraintUnmet(condition="model", asked=1, have=0, of=4, models=("v100",))),
        (
            Request(gpus=2, gpu_models=("h100",)),
            ConstraintUnmet(condition="model", asked=2, have=1, of=4, models=("h100",)),
        ),
        (
            Request(gpu_models=("h100",), exclude_gpus=(named(2),)),
            ConstraintUnmet(condition="model", asked=1, have=0, of=3, models=("h100",), has_excluded=True),
        ),
        (
            Request(exclude_gpus=tuple(map(named, range(4)))),
            ConstraintUnmet(condition="exclude", asked=1, have=0, of=4, has_excluded=True),
        ),
        (
            Request(gpu_memory_bytes=81 * G),
            ConstraintUnmet(condition="size", asked=1, have=0, of=4, asked_bytes=81 * G),
        ),
        (
            Request(gpus=2, min_gpu_memory_bytes=40 * G),
            ConstraintUnmet(condition="size", asked=2, have=1, of=4, asked_bytes=40 * G),
        ),
        (Request(cpus=9, memory_bytes=G), HostTooSmall(what="cpus", asked=9, total=8)),
        (Request(cpus=1, memory_bytes=65 * G), HostTooSmall(what="memory", asked=65 * G, total=64 * G)),
    ],
)
def test_an_impossible_request_reports_what_is_lacking(asked: Request, lacking: Lack) -> None:
    found = lack(a_machine(*GPUS), asked)
    assert (replace(found, most_bytes=0) if isinstance(found, ConstraintUnmet) else found) == lacking


def test_the_largest_available_size_is_reported() -> None:
    found = lack(a_machine(*GPUS), Request(gpu_memory_bytes=81 * G))
    assert isinstance(found, ConstraintUnmet)
    assert found.most_bytes == 80 * G
    found = lack(a_machine(*GPUS), Request(gpu_memory_bytes=25 * G, exclude_gpus=(named(2),)))
    assert isinstance(found, ConstraintUnmet)
    assert found.most_bytes == 24 * G


def test_the_closest_node_is_reported() -> None:
    state = a_state(a_node(gpus=2), a_node(gpus=4, name="big"))
    assert lack(state, Request(gpus=5)) == TooFewGpusOnNode(asked=5, have=4)
    assert lack(state, Request(gpus=3)) is None


@pytest.mark.parametrize("asked", [Request(gpu_memory_bytes=19 * G), Request(gpu_share=0.76)])
def test_a_request_larger_than_keep_gpu_memory_allows_is_impossible(asked: Request) -> None:
    state = a_machine(a_gpu(0))
    handle(state, RulesSet(rules=Rules(keep_gpu_memory=0.25)), 0.0)
    found = lack(state, asked)
    assert isinstance(found, ConstraintUnmet)
    assert (found.condition, found.have, found.most_bytes) == ("kept", 0, 18 * G)
    assert lack(state, Request(gpu_memory_bytes=18 * G)) is None
    assert lack(state, Request(gpu_share=0.75)) is None
    assert lack(state, Request()) is None, "a job that has a GPU alone has all of it"


def test_a_job_blocked_by_a_setting_says_so_and_starts_when_the_setting_is_lowered() -> None:
    state = a_machine(a_gpu(0))
    first, job = queue(state, Request(gpu_memory_bytes=20 * G), Request(gpu_memory_bytes=19 * G))
    assert reasons(state, job)[0] == TooLittleMemory(
        free_bytes=4 * G, total_bytes=24 * G, asked_bytes=19 * G, jobs=(JobId(first),)
    )
    handle(state, RulesSet(rules=Rules(keep_gpu_memory=0.25)), 0.0)
    reason = explain(state, state.jobs[JobId(job)], 0.0)[0]
    assert isinstance(reason, NeverFits)
    assert isinstance(reason.lack, ConstraintUnmet)
    assert reason.lack.condition == "kept"
    assert reasons(state, job)[0] == Unsuitable(condition="kept")
    handle(state, Reported(node=BOX, report=exited(first)), 3.0)
    assert where(state, job) is None
    handle(state, RulesSet(rules=Rules(keep_gpu_memory=0.2)), 0.0)
    assert where(state, job) == [0]
