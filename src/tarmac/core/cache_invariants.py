"""Does the cache of fits agree with the state? Recomputes every entry that is still in date."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.fit.fit_cache import FitCache
from tarmac.core.fit.gpu_fit import suits
from tarmac.core.fit.node_fit import fitting_gpus
from tarmac.core.model.status import Stopping
from tarmac.core.policy.earliest_start import NO_GPUS, WHOLE_GPU, availability, earliest_start_on

if TYPE_CHECKING:
    from tarmac.core.fit.fit_cache import Fits
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Request
    from tarmac.core.state import State


def cache_violations(state: State) -> list[str]:
    return [*_fits(state), *_earliest_starts(state), *_availability(state), *_alike(state)]


def _fits(state: State) -> list[str]:
    """A cached fit is what a fresh look finds, unless the node is marked for another look."""
    cache, found = state.fit_cache, []
    for request, fits in cache.fits.items():
        touched = cache.touched_since(fits.read)
        for name in (set(fits.usable) | set(state.nodes)) - touched:
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
    return [] if listed == expected else [f"{request} is tried on nodes {listed}, should be {expected}"]


def _earliest_starts(state: State) -> list[str]:
    cache, now, found = state.fit_cache, state.now, []
    uncached = replace(state, fit_cache=FitCache())
    for request, known in cache.starts.items():
        touched = cache.touched_since(known.read)
        for name, start in known.by_node.items():
            if name in touched or start.good_until < now or _is_guessing(state, name):
                continue
            fresh = earliest_start_on(uncached, state.nodes[name], request, now, NO_GPUS)
            if start != fresh:
                found.append(f"{request} is thought to start on {name} as {start}, it is {fresh}")
    return found


def _availability(state: State) -> list[str]:
    now, found = state.now, []
    for name, cached in state.fit_cache.untouched_availability().items():
        if _is_guessing(state, name):
            continue
        fresh = sorted(availability(state, state.nodes[name], WHOLE_GPU, now))
        if cached != fresh and all(gpu.good_until >= now for gpu in cached):
            found.append(f"GPUs of {name} are thought to be available as {cached}, it is {fresh}")
    return found


def _is_guessing(state: State, name: NodeName) -> bool:
    """Does a job run there whose end rests on its history? What is learned since reaches the cache only later."""
    return any(
        state.jobs[job].spec.time_limit_s is None and not isinstance(state.jobs[job].status, Stopping)
        for job in state.nodes[name].host
    )


def _alike(state: State) -> list[str]:
    found = []
    kinds = {
        (gpu.model, gpu.memory_total_bytes): gpu
        for node in state.nodes.values()
        for gpu in node.gpus.values()
        if gpu.parent is None
    }
    for request, known in state.fit_cache.alike.items():
        for kind, is_suited in known.items():
            if kind in kinds and (suits(kinds[kind], request, state.rules) is None) != is_suited:
                found.append(f"{kind} is thought to suit {request}: {is_suited}")
    return found
