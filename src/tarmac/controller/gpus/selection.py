"""Which GPUs a request about GPUs means: by index, NODE:INDEX, UUID, or NODE:all."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.refusal import invalid, not_found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.model.node import Node

GpusByNode: TypeAlias = "dict[NodeName, tuple[GpuUuid, ...]]"


class _Named(NamedTuple):
    node: NodeName
    gpu: GpuUuid


def gpus_named(nodes: Iterable[Node], words: Iterable[str]) -> GpusByNode:
    """The GPUs by node, each once. A drained GPU that is away is still found by its UUID.

    An index that several nodes have must be given with its node.
    """
    nodes = list(nodes)
    known: dict[str, list[_Named]] = defaultdict(list)
    for node in nodes:
        for word, named in _names_on(node):
            known[word].append(named)
    found: dict[_Named, None] = {}
    for word in words:
        if word not in known:
            raise not_found("gpu.unknown", word=word, known=GpuNames(nodes).known())
        if len(known[word]) > 1 and not word.endswith(":all"):
            raise invalid("gpu.on_several_nodes", word=word, choices=[f"{one.node}:{word}" for one in known[word]])
        found |= dict.fromkeys(known[word])
    on_nodes = {named.node: () for named in found}
    return {name: tuple(named.gpu for named in found if named.node == name) for name in on_nodes}


def _names_on(node: Node) -> Iterator[tuple[str, _Named]]:
    for uuid in dict.fromkeys((*node.gpus, *node.drains, *node.slots)):
        named = _Named(node.name, uuid)
        yield uuid, named
        yield f"{node.name}:{uuid}", named
        if (index := node.index_now(uuid)) is not None:
            yield str(index), named
            yield f"{node.name}:{index}", named
        if uuid in node.gpus:
            yield f"{node.name}:all", named
