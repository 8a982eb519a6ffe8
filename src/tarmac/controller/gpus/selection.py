"""Which GPUs a request about GPUs means, by node."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.model.node import Node

GpusByNode: TypeAlias = "dict[NodeName, tuple[GpuUuid, ...]]"
MISSING = {"gpu.unknown", "gpu.unknown_uuid", "node.unknown"}


def gpus_named(nodes: Iterable[Node], words: Iterable[str]) -> GpusByNode:
    """The GPUs by node, each once. A drained GPU that is away is still found by its UUID.

    An index that several nodes have must be given with its node.
    """
    names = GpuNames(nodes)
    found: dict[NodeName, dict[GpuUuid, None]] = {}
    try:
        for word in words:
            for node, gpu in names.meant(word, with_absent=True):
                found.setdefault(node.name, {})[gpu] = None
    except Refused as refused:
        # The GPU is what the request is about, so it is "not found"; in a submit, the request is wrong.
        raise Refused("not_found" if refused.key in MISSING else refused.kind, refused.key, refused.values) from None
    return {node: tuple(gpus) for node, gpus in found.items()}
