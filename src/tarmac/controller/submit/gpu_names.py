"""Resolves GPUs given by index, UUID or the start of a UUID, by the current numbering; also as NODE:INDEX."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tarmac.core.model.gpu import NamedGpu
from tarmac.refusal import invalid, unavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    gpus: tuple[NamedGpu, ...]  # each once, by index
    most_on_a_node: int


class GpuNames:
    """Remembers its answers: an array names the same GPUs a hundred thousand times."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = list(nodes)
        self._found: dict[tuple[int | str, ...], Found] = {(): Found(gpus=(), most_on_a_node=0)}

    def found(self, words: tuple[int | str, ...]) -> Found:
        """Refuses a word that matches no GPU or several, and any word while the GPUs are not known."""
        if words not in self._found:
            self._found[words] = self._find(words)
        return self._found[words]

    def known(self) -> list[int | str]:
        """The current name of each GPU: its index, with its node if there are several; its UUID if it has no index."""
        return [name_of(node, gpu.uuid, self._nodes) for node in self._nodes for gpu in node.gpus.values()]

    def _find(self, words: tuple[int | str, ...]) -> Found:
        # An index must be resolved now: later another GPU may have it.
        if not any(node.has_reported_gpus for node in self._nodes):
            raise unavailable("gpu.not_known_yet", nodes=len(self._nodes))
        gpus = {(node.name, gpu.uuid): gpu for word in words for node, gpu in self._meant(word)}
        on_nodes = Counter(node for node, _ in gpus)
        named = {NamedGpu(uuid=gpu.uuid, index=gpu.index) for gpu in gpus.values()}
        return Found(
            gpus=tuple(sorted(named, key=lambda gpu: (gpu.index, gpu.uuid))),
            most_on_a_node=max(on_nodes.values()),
        )

    def _meant(self, given: int | str) -> list[tuple[Node, Gpu]]:
        nodes, word = self._scope(str(given))
        known = [(node, gpu) for node in nodes for gpu in node.gpus.values()]
        if word.isascii() and word.isdecimal():
            found = [(node, gpu) for node, gpu in known if node.index_now(gpu.uuid) == int(word)]
            if len(found) > 1:
                choices = [f"{node.name}:{word}" for node, _ in found]
                raise invalid("gpu.on_several_nodes", word=given, choices=choices)
        else:
            exact = [(node, gpu) for node, gpu in known if gpu.uuid == word]
            found = exact or [(node, gpu) for node, gpu in known if gpu.uuid.lower().startswith(word.lower())]
            if len(found) > 1:
                raise invalid("gpu.ambiguous", word=word, matches=len(found), uuids=[gpu.uuid for _, gpu in found[:8]])
            if not found:
                raise invalid("gpu.unknown_uuid", word=word)
        if not found:
            raise invalid("gpu.unknown", word=given, known=self.known())
        return found

    def _scope(self, word: str) -> tuple[list[Node], str]:
        """NODE:REST means REST on that node."""
        prefix, _, rest = word.partition(":")
        named = [node for node in self._nodes if node.name == prefix]
        return (named, rest) if named and rest else (self._nodes, word)


def current_names(nodes: Collection[Node], gpus: Iterable[NamedGpu | int]) -> list[int | str]:
    """How the GPUs that a job names are called now. A GPU without an index is named by its UUID."""
    return [gpu if isinstance(gpu, int) else _current_name(nodes, gpu.uuid) for gpu in gpus]


def _current_name(nodes: Collection[Node], uuid: GpuUuid) -> int | str:
    return next((name_of(node, uuid, nodes) for node in nodes if uuid in node.gpus), uuid)


def name_of(node: Node, gpu: GpuUuid, nodes: Collection[Node]) -> int | str:
    """How a GPU is named among these nodes."""
    index = node.index_now(gpu)
    if index is None:
        return gpu
    return index if len(nodes) == 1 else f"{node.name}:{index}"
