"""Does the cache of fits agree with the state? Recomputes every entry that is still in date."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, TypeVar

from tarmac.core.fit.fit_cache import FitCache
from tarmac.core.fit.gpu_fit import suits
from tarmac.core.fit.node_fit import fitting_gpus
from tarmac.core.policy.plans.earliest_start import WHOLE_GPU, availability, earliest_start_on, start_order
from tarmac.core.policy.plans.exclusions import NO_GPUS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.fit.fit_cache import Fits
    from tarmac.core.fit.touched_nodes import PerNode
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Request
    from tarmac.core.state import State

Value = TypeVar("Value")


def cache_violations(state: State) -> list[str]:
    return [
        *_fits(state), *_earliest_starts(state), *_orders_of_starts(state), *_ends(state), *_availability(state),
        *_alike(state), *_gpu_counts(state),
    ]  # fmt: skip


def _fits(state: State) -> list[str]:
    """A cached fit is what a fresh look finds, unless the node is marked for another look."""
    cache, found = state.fit_cache, []
    for request, fits in [*cache.fits.items(), *cache.least.items()]:
        touched = set(cache.touched.since(fits.read))
        for name in set(cache.touched.names) - touched:
            gpus = fitting_gpus(state.nodes[name], request, state.rules)
            usable = None if gpus is None else len(gpus)
            if fits.usable.get(name) != usable:
                found.append(f"{request} is thought to fit on {fits.usable.get(name)} GPUs of {name}, it is {usable}")
        found += _order_of_fits(state, request, fits)
    return found


def _order_of_fits(state: State, request: Request, fits: Fits) -> list[str]:
    """The fullest nodes first, equally full ones in the order they joined."""
    numbers = {name: number for number, name in enumerate(state.nodes)}
    expected = [numbers[name] for name in sorted(fits.usable, key=lambda name: (fits.usable[name], numbers[name]))]
    listed = list(fits.numbers())
    if listed == expected and all(fits.by_usable.values()):
        return []
    return [f"{request} is tried on nodes {fits.by_usable}, should be {expected}"]


def _earliest_starts(state: State) -> list[str]:
    now, found = state.now, []
    uncached = replace(state, fit_cache=FitCache())
    for request, starts in state.fit_cache.starts.by_request.items():
        for name, start in _in_date(state, starts):
            fresh = earliest_start_on(uncached, state.nodes[name], request, now, NO_GPUS)
            if start != fresh:
                found.append(f"{request} is thought to start on {name} as {start}, it is {fresh}")
    return found


def _orders_of_starts(state: State) -> list[str]:
    """Nodes are sorted by a moment, and nothing starts there before it."""
    touched, found = state.fit_cache.touched, []
    uncached = replace(state, fit_cache=FitCache())
    for request, order in state.fit_cache.starts.orders.items():
        if order.order != sorted((at, number) for number, at in order.at.items()):
            found.append(f"nodes for {request} are in the order {order.order}")
        fresh = start_order(uncached, request, state.now)
        changed = set(touched.since(order.read))
        for number, name in enumerate(touched.names):
            if name in changed or _has_run_out(state, name):
                continue
            at, is_now = order.at.get(number, inf), fresh.at.get(number, inf)
            if at != is_now:
                found.append(f"{request} is thought to start on {name} at {at}, it is {is_now}")
    return found


def _ends(state: State) -> list[str]:
    found = []
    for name, ends in _in_date(state, state.fit_cache.starts.ends):
        fresh = {job: state.runtimes.expected_end_of(state.jobs[job], state.now) for job in state.nodes[name].host}
        if ends != fresh:
            found.append(f"jobs on {name} are thought to end as {ends}, it is {fresh}")
    return found


def _availability(state: State) -> list[str]:
    found = []
    uncached = replace(state, fit_cache=FitCache())
    for name, cached in _in_date(state, state.fit_cache.starts.availability):
        fresh = sorted(availability(uncached, state.nodes[name], WHOLE_GPU, state.now))
        if cached != fresh:
            found.append(f"GPUs of {name} are thought to be available as {cached}, it is {fresh}")
    return found


def _in_date(state: State, values: PerNode[Value]) -> Iterator[tuple[NodeName, Value]]:
    return ((name, value) for name, value in values.items() if not _has_run_out(state, name))


def _has_run_out(state: State, name: NodeName) -> bool:
    """Has a job there outlived what was expected of it? The cache follows with the next pass."""
    return state.fit_cache.starts.good_until(name) <= state.now


def _alike(state: State) -> list[str]:
    found = []
    kinds = {
        (gpu.model, gpu.memory_total_bytes): gpu
        for node in state.nodes.values()
        for gpu in node.gpus.values()
        if gpu.parent is None
    }
    for request, known in state.fit_cache.starts.alike.items():
        for kind, is_suited in known.items():
            if kind in kinds and (suits(kinds[kind], request, state.rules) is None) != is_suited:
                found.append(f"{kind} is thought to suit {request}: {is_suited}")
    return found


def _gpu_counts(state: State) -> list[str]:
    counts = state.fit_cache.gpus
    changed = set(state.fit_cache.touched.since(counts.read))
    nodes = (node for node in state.nodes.values() if node.name in counts.of_node and node.name not in changed)
    fresh = {node.name: len(node.gpus) if node.is_connected and not node.is_watch_only else 0 for node in nodes}
    known = {name: count for name, count in counts.of_node.items() if name not in changed}
    if known == fresh and counts.total == sum(counts.of_node.values()):
        return []
    return [f"nodes are thought to have {counts.of_node} GPUs, {counts.total} in all; it is {fresh}"]
