"""Report the first constraint of a request that no node can satisfy, even when idle.

Until a node has reported its GPUs, nothing counts as lacking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.fit.gpu_fit import CONDITIONS, GpuCondition, bookable_bytes, is_named, size, suits
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.model.gpu import Gpu, NamedGpu
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Request
    from tarmac.core.model.node import Node
    from tarmac.core.model.rules import Rules
    from tarmac.core.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFewGpusOnNode:
    asked: int
    have: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedGone:
    """The job is pinned to GPUs that are gone. A bare number comes from an older job."""

    gpus: tuple[NamedGpu | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintUnmet:
    """Too few GPUs meet a condition, one of CONDITIONS, of those that met all before it."""

    condition: GpuCondition
    asked: int
    have: int
    of: int
    models: tuple[str, ...] = ()  # asked for
    asked_bytes: int = 0  # of a GPU
    most_bytes: int = 0  # that one of them could give
    has_excluded: bool = False  # then `of` is less than there are


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTooSmall:
    what: str  # memory or cpus
    asked: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoNodeLeft:
    """The job excludes every node, or names only nodes that are gone."""

    named: tuple[NodeName, ...]  # the only ones that it may run on
    excluded: tuple[NodeName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyWatched:
    """No other nodes could run it, and no job ever starts on these."""

    nodes: tuple[NodeName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesMissing:
    """Every node that the job may run on lacks a file or directory that it needs."""

    nodes: tuple[NodeName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFewNodes:
    """Some nodes could take a part of the job, but not as many as it asks for."""

    asked: int
    have: int
    of: int  # nodes that it may run on


Lack: TypeAlias = (
    TooFewGpusOnNode
    | PinnedGone
    | ConstraintUnmet
    | HostTooSmall
    | NoNodeLeft
    | OnlyWatched
    | FilesMissing
    | TooFewNodes
)


def lack(state: State, request: Request) -> Lack | None:
    """What the closest node lacks; None where a node, or as many as are asked for, could satisfy everything.

    A drained node counts, because it may be resumed. A watch-only node never does.
    """
    found: list[Lack] = []
    watched: list[NodeName] = []
    have = 0
    allowed = [node for node in state.nodes.values() if request.allows(node.name)]
    for node in allowed:
        lacking = _lack_on(node, request, state.rules)
        if lacking is None and not node.is_watch_only:
            have += 1
            if have == request.node_count:
                return None
        elif lacking is None:
            watched.append(node.name)
        elif not node.is_watch_only:
            found.append(lacking)
    if have or request.node_count > len(allowed) > 0:
        return TooFewNodes(asked=request.node_count, have=have, of=len(allowed))
    if watched or (allowed and not found):
        return OnlyWatched(nodes=tuple(watched or (node.name for node in allowed)))
    if not allowed and (chosen := tuple(name for name in state.nodes if request.is_chosen(name))):
        return FilesMissing(nodes=chosen)
    if not allowed and state.nodes:
        return NoNodeLeft(named=request.only_nodes, excluded=request.exclude_nodes)
    return max(found, key=_nearness, default=None)


def candidates(state: State, request: Request) -> list[Node]:
    """The nodes that could meet the request if they were idle."""
    open_nodes = [node for node in state.nodes.values() if request.allows(node.name) and not node.is_watch_only]
    return [node for node in open_nodes if _lack_on(node, request, state.rules) is None]


def chosen_nodes(state: State, request: Request) -> tuple[NodeName, ...]:
    """The nodes that the job may run on, if its owner chose some; empty for a job that may run on all."""
    chosen = tuple(name for name in state.nodes if request.is_chosen(name))
    return () if len(chosen) == len(state.nodes) else chosen


def pinned_away(state: State, request: Request) -> PinnedGone | None:
    """Pinned GPUs that are gone but not forgotten: they may come back."""
    gone = {uuid for node in state.nodes.values() for uuid in node.gpus if node.is_gone(uuid)}
    names = tuple(name for name in request.gpus_on if not isinstance(name, int) and name.uuid in gone)
    return PinnedGone(gpus=names) if names else None


def _nearness(found: Lack) -> tuple[int, int]:
    match found:
        case TooFewGpusOnNode(have=have):
            return (0, have)
        case PinnedGone(gpus=gpus):
            return (1, -len(gpus))
        case ConstraintUnmet(condition=condition, have=have):
            return (2 + CONDITIONS.index(condition), have)
        case HostTooSmall(total=total):
            return (2 + len(CONDITIONS), total)
        case NoNodeLeft() | OnlyWatched() | FilesMissing() | TooFewNodes():
            return (-1, 0)  # never compared: it is about all nodes


def _lack_on(node: Node, request: Request, rules: Rules) -> Lack | None:
    of_gpus = _lack_of_gpus(node, request, rules) if node.has_reported_gpus else None
    return of_gpus or _lack_of_host(node, request)


def _lack_of_host(node: Node, request: Request) -> HostTooSmall | None:
    if node.cpus and request.cpus > node.cpus:
        return HostTooSmall(what="cpus", asked=request.cpus, total=node.cpus)
    if node.memory_total_bytes and request.memory_bytes > node.memory_total_bytes:
        return HostTooSmall(what="memory", asked=request.memory_bytes, total=node.memory_total_bytes)
    return None


def _lack_of_gpus(node: Node, request: Request, rules: Rules) -> Lack | None:
    gpus = list(node.gpus.values())
    gone = tuple(name for name in request.gpus_on if not any(is_named(gpu, (name,)) for gpu in gpus))
    if gone and len(request.gpus_on) - len(gone) < request.gpus:
        return PinnedGone(gpus=gone)
    if request.gpus > len(gpus):
        return TooFewGpusOnNode(asked=request.gpus, have=len(gpus))
    refused = [(gpu, suits(gpu, request, rules)) for gpu in gpus]
    for condition in CONDITIONS:
        met = [(gpu, why) for gpu, why in refused if why is None or why.condition != condition]
        if len(met) < request.gpus:
            return _constraint_unmet(condition, [gpu for gpu, _ in refused], len(met), request, rules)
        refused = met
    return None


def _constraint_unmet(
    condition: GpuCondition, gpus: list[Gpu], have: int, request: Request, rules: Rules
) -> ConstraintUnmet:
    asked_bytes = max(request.min_gpu_memory_bytes, request.gpu_memory_bytes or 0)
    most_bytes = max(size(gpu) for gpu in gpus)
    if condition == "kept":
        asked_bytes = request.gpu_memory_bytes or int((request.gpu_share or 0) * most_bytes)
        most_bytes = max(bookable_bytes(gpu, rules) for gpu in gpus)
    return ConstraintUnmet(
        condition=condition,
        asked=request.gpus,
        have=have,
        of=len(gpus),
        models=request.gpu_models,
        asked_bytes=asked_bytes,
        most_bytes=most_bytes,
        has_excluded=bool(request.exclude_gpus),
    )
