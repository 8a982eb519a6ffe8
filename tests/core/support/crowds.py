"""Random crowds: nodes on which narrow jobs run, and wide jobs that wait, so that several starts are planned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

from tarmac.core.model.job import Request
from tarmac.core.model.rules import PerName, Rules
from tests.core.support.builders import a_job, a_node, a_spec, a_status
from tests.core.support.loads import OWNERS, one_of, specs

if TYPE_CHECKING:
    from tarmac.core.model.node import Node
    from tarmac.core.state import State
    from tests.core.support.play import Step

PastRun: TypeAlias = tuple[str, str, int, float, str]  # owner, name, GPUs, seconds, state
lengths: dict[str, st.SearchStrategy[Any]] = {
    "tier": st.just("normal"),
    "priority": st.just(10),
    "name": st.sampled_from(["a", "b", "c", "d", "e", "f"]),
    "time_limit_s": st.sampled_from([None, None, 5.0, 20.0, 60.0, 90.0]),
}
narrow = specs(st.builds(Request, gpus=st.sampled_from([1, 1, 2])), **lengths)
wide = specs(st.builds(Request, gpus=st.sampled_from([1, 2, 3, 4])), **lengths)
crowd_rules = st.builds(
    Rules,
    policy=st.sampled_from(["fifo", "balance", "balance", "fairshare"]),
    order=st.sampled_from(["submitted", "expected"]),
    shares=st.sampled_from([PerName(1.0), PerName(1.0, (("ann", 3.0),)), PerName(1.0, (("bob", 0.0),))]),
    starvation_s=st.sampled_from([0.0, 10.0, 1e18]),
    suspend_after_failures=st.just(0),
)


@st.composite
def plain_nodes(draw: st.DrawFn) -> list[Node]:
    counts = draw(st.lists(st.sampled_from([2, 3, 4]), min_size=2, max_size=4))
    return [a_node(gpus=gpus, name=f"n{number}") for number, gpus in enumerate(counts)]


past_runs = st.lists(
    st.tuples(
        st.sampled_from(OWNERS),
        st.sampled_from(["a", "b", "other"]),
        st.sampled_from([1, 1, 2]),
        st.sampled_from([12.0, 25.0, 70.0]),
        st.sampled_from(["succeeded", "succeeded", "failed"]),
    ),
    max_size=8,
)
passes = st.tuples(
    st.sampled_from(["begin", "end", "end", "fail", "wait", "stop"]), one_of, st.sampled_from([1.0, 4.0, 30.0])
)


@st.composite
def partly_filled(draw: st.DrawFn) -> list[Step]:
    """Narrow jobs begin on some of the GPUs, time passes, and some end."""
    fill = draw(st.lists(narrow, min_size=3, max_size=9))
    begins: list[Step] = [("begin", 0, 0.0)] * len(fill)
    return [("submit", 1, (fill, "queued")), *begins, *draw(st.lists(passes, max_size=4))]


@st.composite
def crowd_steps(draw: st.DrawFn) -> list[Step]:
    """Narrow jobs run, then wide ones come, while time passes."""
    comes = st.tuples(
        st.just("submit"), st.just(1), st.tuples(st.lists(wide, min_size=2, max_size=6), st.just("queued"))
    )
    return [*draw(partly_filled()), draw(comes), *draw(st.lists(st.one_of(comes, passes, passes), max_size=8))]


def learn(state: State, past: list[PastRun]) -> None:
    for owner, name, gpus, seconds, ended in past:
        status = replace(a_status(ended), started_at=0.0, ended_at=seconds)  # type: ignore[call-arg]
        job = a_job(999, status=status)
        job.spec = a_spec(owner=owner, name=name, gpus=gpus)
        state.runtimes.learn(job)
