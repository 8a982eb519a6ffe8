"""Compares placement with brute force on small clusters: it finds a fit exactly when there is one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.events import GpusDrained, GpusResumed, SlotsSet
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job, Request
from tarmac.core.model.node import Node
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Booking, Queued, Starting
from tarmac.core.policy.placement import place as placed
from tarmac.core.state import State
from tests.core.support.brute_force import gpus_that_do
from tests.core.support.builders import NOW, a_job
from tests.core.support.effort import tries
from tests.core.support.loads import machines, one_of, requests
from tests.core.support.play import pick

kept = st.builds(
    Rules,
    keep_gpu_memory=st.sampled_from([0.0, 0.25]),
    starvation_s=st.just(1e18),
    placement=st.sampled_from(["pack", "spread"]),
)
moves = st.lists(
    st.one_of(requests, requests, st.tuples(st.sampled_from(["leave", "drain", "resume", "slots"]), one_of)),
    min_size=1,
    max_size=20,
)


@tries(300)
@given(nodes=machines(), rules=kept, moves=moves)
def test_placement_finds_a_fit_if_one_exists_on_the_fullest_node(
    nodes: list[Node], rules: Rules, moves: list[Request | tuple[str, int]]
) -> None:
    state = State(rules=rules)
    state.nodes.update((node.name, node) for node in nodes)
    for number, move in enumerate(moves, 1):
        if isinstance(move, tuple):
            change(state, *move)
            continue
        booking = placed(state, move)
        do = {name: gpus_that_do(node, move, state.rules) for name, node in state.nodes.items()}
        fitting = {name: gpus for name, gpus in do.items() if gpus is not None and len(gpus) >= move.gpus}
        assert (booking is not None) == (len(fitting) >= move.node_count)
        if booking is not None:
            expect_the_fullest(state, move, booking, fitting)
            job = a_job(number)
            job.spec = type(job.spec)(**{**{n: getattr(job.spec, n) for n in SPEC}, "request": move})
            job.attempt = 1
            state.jobs[job.id] = job
            state.queue.add_many([job])
            state.enter(job, Starting(booking=booking, decided_at=NOW))


SPEC = ("owner", "command", "shell", "cwd", "umask", "environment")


def expect_the_fullest(state: State, request: Request, booking: Booking, fitting: dict[NodeName, Any]) -> None:
    preferred = [name for name in request.prefer_nodes if name in fitting]
    sign = -1 if state.rules.placement == "spread" else 1
    others = sorted((name for name in fitting if name not in preferred), key=lambda name: sign * len(fitting[name]))
    best = [*preferred, *others][: request.node_count]
    assert list(booking.nodes) == best, "preferred ones, the fullest, the first of equals"
    for place in booking.places:
        chosen = [gpu.uuid for gpu in place.gpus]
        assert len(set(chosen)) == len(chosen) == request.gpus
        assert set(chosen) <= set(fitting[place.node])
        if request.is_shared or request.gpus == 1:
            left = set(fitting[place.node]) - set(chosen)
            node = state.nodes[place.node]
            assert all(booked(node, one) >= booked(node, other) for one in chosen for other in left), "the fullest GPUs"


def booked(node: Node, uuid: str) -> int:
    return sum(gpu.memory_bytes for gpu in node.booked.get(uuid, {}).values())  # type: ignore[call-overload]


def change(state: State, word: str, number: int) -> None:
    node = pick(list(state.nodes.values()), number)
    gpu = (pick(list(node.gpus), number // 5),)
    if word == "drain":
        handle(state, GpusDrained(node=node.name, gpus=gpu, by="root", reason="hot"), NOW)
    elif word == "resume":
        handle(state, GpusResumed(node=node.name, gpus=gpu), NOW)
    elif word == "slots":
        handle(state, SlotsSet(node=node.name, gpus=gpu, slots=1 + number % 2), NOW)
    elif state.jobs:
        leave(state, pick(list(state.jobs.values()), number))


def leave(state: State, job: Job) -> None:
    """Release its booking; the job does not matter here."""
    state.enter(job, Queued())
    state.queue.remove(job)
    del state.jobs[JobId(job.id)]
