"""Random machines, jobs and rules for the property tests: small, so that jobs always compete."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.node import Node, NodeDrain
from tarmac.core.model.rules import PerName, Rules
from tests.core.support.builders import a_node, a_spec, numbered_gpus

GIB = 2**30
OWNERS = ("ann", "bob", "cat")
one_of = st.integers(0, 10_000)  # selects one of the existing objects

whole = st.builds(Request, gpus=st.sampled_from([1, 1, 2, 3, 4]))
shared = st.one_of(
    st.builds(Request, gpus=st.sampled_from([1, 1, 2]), gpu_memory_bytes=st.sampled_from([4 * GIB, 8 * GIB, 20 * GIB])),
    st.builds(Request, gpus=st.sampled_from([1, 2]), gpu_share=st.sampled_from([0.25, 0.5])),
)
without_gpus = st.builds(Request, gpus=st.just(0), cpus=st.sampled_from([0, 4]))
choosy = st.builds(
    Request,
    gpus=st.sampled_from([1, 2]),
    gpu_models=st.sampled_from([(), ("a100",), ("a100", "l40")]),
    min_gpu_memory_bytes=st.sampled_from([0, 20 * GIB]),
    exclude_gpus=st.sampled_from([(), (0,)]),
    cpus=st.sampled_from([0, 3]),
    memory_bytes=st.sampled_from([0, 24 * GIB]),
    only_nodes=st.sampled_from([(), (), (), ("n0",), ("n0", "n2")]),
    exclude_nodes=st.sampled_from([(), (), ("n1",)]),
    prefer_nodes=st.sampled_from([(), (), ("n1",), ("n2", "n0")]),
)
on_several_nodes = st.builds(
    Request,
    gpus=st.sampled_from([1, 1, 2]),
    node_count=st.sampled_from([2, 2, 3]),
    gpu_share=st.sampled_from([None, None, 0.5]),
    cpus=st.sampled_from([0, 3]),
)
with_gpus = st.one_of(whole, whole, shared, choosy, on_several_nodes)
requests = st.one_of(whole, whole, shared, without_gpus, choosy, on_several_nodes)


def specs(asks: st.SearchStrategy[Request] = requests, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[JobSpec]:
    asked: dict[str, st.SearchStrategy[Any]] = {
        "owner": st.sampled_from(OWNERS),
        "project": st.sampled_from([None, "lab", "thesis"]),
        "priority": st.sampled_from([10, 10, 5]),
        "tier": st.sampled_from(["normal", "normal", "preemptible", "urgent"]),
        "time_limit_s": st.sampled_from([None, 5.0, 20.0, 60.0]),
        "grace_s": st.sampled_from([0.0, 10.0]),
        "retries": st.sampled_from([0, 0, 1, 3]),
        "retry_delay_s": st.sampled_from([None, 0.0, 5.0]),
        "on_oom": st.sampled_from([None, "grow"]),
    }
    return st.builds(_spec, asks, st.fixed_dictionaries({**asked, **more}))


def _spec(request: Request, more: dict[str, Any]) -> JobSpec:
    return JobSpec(**{**_plain(a_spec()), **more, "request": request})


def _plain(spec: JobSpec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in ("command", "shell", "cwd", "umask", "environment")}


@st.composite
def machines(draw: st.DrawFn, most: int = 3) -> list[Node]:
    """One to three nodes of one to four GPUs; some are of another make, drained, or have two slots."""
    return [_machine(draw, f"n{number}") for number in range(draw(st.integers(1, most)))]


def _machine(draw: st.DrawFn, name: str) -> Node:
    makes = draw(st.lists(st.sampled_from([("A100", 24), ("A100", 24), ("L40", 16)]), min_size=1, max_size=4))
    node = a_node(gpus=0, name=name, cpu_job_slots=draw(st.sampled_from([1, 2])))
    node.cpus, node.memory_total_bytes = 6, 40 * GIB
    for gpu, (model, gib) in zip(numbered_gpus(len(makes), name), makes, strict=True):
        node.gpus[gpu.uuid] = _made(gpu, model, gib)
    for uuid in node.gpus:
        if draw(st.sampled_from([False, False, False, True])):
            node.slots[uuid] = 2
    if draw(st.sampled_from([False] * 7 + [True])):
        node.drain = NodeDrain(reason=None, by="eve", since=0.0)
    return node


def _made(gpu: Any, model: str, gib: int) -> Any:
    return type(gpu)(uuid=gpu.uuid, index=gpu.index, model=model, memory_total_bytes=gib * GIB)


def per_name(*numbers: float) -> st.SearchStrategy[PerName]:
    exceptions = st.lists(st.tuples(st.sampled_from([*OWNERS, "lab"]), st.sampled_from(numbers)), max_size=1)
    return st.builds(PerName, st.sampled_from(numbers), exceptions.map(tuple))


rules = st.builds(
    Rules,
    policy=st.sampled_from(["fifo", "balance", "fairshare"]),
    order=st.sampled_from(["submitted", "submitted", "expected"]),
    shares=per_name(1.0, 1.0, 2.0, 0.5, 0.0),
    is_backfilling=st.sampled_from([True, True, False]),
    starvation_s=st.sampled_from([0.0, 30.0, 1e18]),
    keep_gpu_memory=st.sampled_from([0.0, 0.25]),
    placement=st.sampled_from(["pack", "pack", "spread"]),
    suspend_after_failures=st.just(0),
    drain_node_after_failures=st.sampled_from([0, 3]),
)
limits = st.builds(
    Rules,
    policy=st.sampled_from(["fifo", "balance", "fairshare"]),
    order=st.sampled_from(["submitted", "submitted", "expected"]),
    max_gpus_per_user=per_name(0.0, 1.0, 2.5, 4.0),
    max_gpus_per_project=per_name(0.0, 1.5, 3.0),
    max_gpus_per_job=st.sampled_from([0, 0, 2]),
    starvation_s=st.sampled_from([0.0, 1e18]),
    suspend_after_failures=st.sampled_from([0, 2]),
)


def uuids(node: Node) -> list[GpuUuid]:
    return list(node.gpus)


def name_of(number: int) -> NodeName:
    return NodeName(f"n{number}")
