"""Backfill looks at kinds of requests, and misses no job that could start."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.events import JobsSubmitted, Reported, RulesSet, TimePassed
from tarmac.core.fit import fit_cache
from tarmac.core.fit.node_fit import fitting_gpus
from tarmac.core.machine import handle
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.names import Policy
from tarmac.core.model.node import Node
from tarmac.core.model.rules import Rules
from tarmac.core.model.status import Starting
from tarmac.core.policy.order.own_order import classes_of
from tarmac.core.policy.placement import booking_for
from tarmac.core.policy.plans.candidates import Candidates
from tarmac.core.policy.scheduling_pass import Pass
from tests.core.support.builders import BOX, a_spec, exited
from tests.core.support.effort import tries
from tests.core.support.loads import machines, rules, specs
from tests.core.support.play import Play, Step, steps
from tests.core.support.scene import Scene
from tests.core.test_properties import put_in_line

MIB = 2**20


@tries(150)
@given(nodes=machines(), rules=rules, steps=steps(), new=st.lists(specs(), max_size=6))
def test_no_job_that_could_start_is_left_out(
    nodes: list[Node], rules: Rules, steps: list[Step], new: list[JobSpec]
) -> None:
    play = Play(nodes, rules)
    for step in steps:
        play.take(step)
    put_in_line(play.state, new, play.now)
    line = Pass(play.state, play.now)
    next(line.run(), None)
    sources = list(Candidates(play.state, play.now, line.plans).classes())
    listed = [klass for source in sources for klass in classes_of(source)]
    assert len(listed) == len(set(listed)), "each class once"
    for klass in play.state.queue.classes.values():
        jobs = [play.state.jobs[job] for job in klass.first_jobs()]
        if any(booking_for(play.state, job, play.now, line.plans) is not None for job in jobs):
            assert klass in listed


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """The requests for which a node is looked at closely."""
    asked: list[Request] = []

    def noted(node: Node, request: Request, rules: Rules) -> object:
        asked.append(request)
        return fitting_gpus(node, request, rules)

    monkeypatch.setattr(fit_cache, "fitting_gpus", noted)
    return asked


def varied(number: int, *, has_limit: bool) -> JobSpec:
    """Jobs of which each asks for something else."""
    request = Request(
        gpus=1,
        memory_bytes=512 * MIB + number * MIB if number % 2 else 0,
        min_gpu_memory_bytes=0 if number % 2 else 512 * MIB + number * MIB,
    )
    spec = a_spec(owner=("ann", "bob", "cat")[number % 3])
    return replace(spec, request=request, time_limit_s=3600.0 + number if has_limit else None)


@pytest.mark.parametrize("policy", ["fifo", "balance"])
@pytest.mark.parametrize("has_limit", [True, False])
def test_an_event_looks_at_as_few_requests_however_many_distinct_ones_wait(
    looks: list[Request], policy: Policy, has_limit: bool
) -> None:
    counts = []
    for distinct in (50, 400):
        scene = Scene(gpus=2)
        scene.happen(RulesSet(rules=Rules(policy=policy)))
        scene.happen(JobsSubmitted(specs=(a_spec(gpus=2),)))
        scene.happen(JobsSubmitted(specs=tuple(varied(number, has_limit=has_limit) for number in range(distinct))))
        scene.happen(JobsSubmitted(specs=(a_spec(gpus=2),)))
        handle(scene.state, Reported(node=BOX, report=exited(1)), scene.now)
        looks.clear()
        handle(scene.state, TimePassed(), scene.now + 1)
        counts.append(len(looks))
        running = next(job.id for job in scene.state.jobs.values() if isinstance(job.status, Starting))
        scene.report(exited(running))
        counts[-1] += len(looks)
    assert counts[1] <= counts[0] + 10
