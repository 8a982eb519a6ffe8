"""Resolves GPUs by the current numbering: an index, a range, a UUID or its beginning; also NODE:INDEX or NODE:all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from tarmac.core.model.gpu import NamedGpu
from tarmac.records import dataclass
from tarmac.refusal import invalid, unavailable
from tarmac.shared.numbers import whole_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.model.node import Node
    from tarmac.refusal import Refused

_RANGE = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGpus:
    gpus: tuple[NamedGpu, ...]  # each once, by index
    nodes: tuple[NodeName, ...]  # that have them


class OnNode(NamedTuple):
    node: Node
    gpu: GpuUuid


class GpuNames:
    """Remembers its answers: an array names the same GPUs a hundred thousand times."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = list(nodes)
        self._found: dict[tuple[int | str, ...], FoundGpus] = {(): FoundGpus(gpus=(), nodes=())}

    def found(self, words: tuple[int | str, ...]) -> FoundGpus:
        """Refuses a word that matches no GPU or several, and any word while the GPUs are not known."""
        if words not in self._found:
            self._found[words] = self._find(words)
        return self._found[words]

    def known(self) -> list[int | str]:
        """The current name of each GPU: its index, with its node if there are several; its UUID if it has no index."""
        return [name_of(node, gpu.uuid, self._nodes) for node in self._nodes for gpu in node.gpus.values()]

    def _find(self, words: tuple[int | str, ...]) -> FoundGpus:
        # An index must be resolved now: later another GPU may have it.
        if not any(node.has_reported_gpus for node in self._nodes):
            raise unavailable("gpu.not_known_yet", nodes=len(self._nodes))
        meant = [one for word in words for one in self.meant(word)]
        gpus = {NamedGpu(uuid=gpu, index=node.gpus[gpu].index) for node, gpu in meant}
        return FoundGpus(
            gpus=tuple(sorted(gpus, key=lambda gpu: (gpu.index, gpu.uuid))),
            nodes=tuple(dict.fromkeys(node.name for node, _ in meant)),
        )

    def meant(self, given: int | str, *, with_absent: bool = False) -> list[OnNode]:
        """The GPUs of one word. `with_absent`: also, by UUID, those that are away but drained or shared in slots."""
        nodes, word = self._scope(str(given))
        known = [OnNode(node, gpu) for node in nodes for gpu in _uuids(node, with_absent=with_absent)]
        if word == "all" and word != given:
            return [one for one in known if one.gpu in one.node.gpus] or self._refuse_unknown(given)
        if any(one.gpu == word for one in known):
            return self._single([one for one in known if one.gpu == word], word)
        if (index := whole_number(word)) is not None:
            return [self._with_index(known, index, given)]
        if span := _RANGE.fullmatch(word):
            first, last = int(span[1]), int(span[2])
            if last < first:
                raise invalid("gpu.range_reversed", word=given)
            return [
                self._with_index(known, index, f"{str(given).removesuffix(word)}{index}")
                for index in range(first, last + 1)
            ]
        found = [one for one in known if one.gpu.lower().startswith(word.lower())]
        if not found:
            raise self._no_uuid(word)
        return self._single(found, word)

    def _with_index(self, known: list[OnNode], index: int, given: int | str) -> OnNode:
        found = [one for one in known if one.node.index_now(one.gpu) == index]
        if len(found) > 1:
            choices = [f"{node.name}:{index}" for node, _ in found]
            raise invalid("gpu.on_several_nodes", word=given, choices=choices)
        return found[0] if found else self._refuse_unknown(given)

    def _refuse_unknown(self, given: int | str) -> NoReturn:
        raise invalid("gpu.unknown", word=given, known=self.known())

    def _single(self, found: list[OnNode], word: str) -> list[OnNode]:
        if len(found) > 1:
            raise invalid("gpu.ambiguous", word=word, matches=len(found), uuids=[gpu for _, gpu in found[:8]])
        return found

    def _no_uuid(self, word: str) -> Refused:
        node, colon, _ = word.partition(":")
        names = [one.name for one in self._nodes]
        if colon and node not in names:
            return invalid("node.unknown", node=node, known=names)
        return invalid("gpu.unknown_uuid", word=word)

    def _scope(self, word: str) -> tuple[list[Node], str]:
        """NODE:REST means REST on that node."""
        prefix, _, rest = word.partition(":")
        named = [node for node in self._nodes if node.name == prefix]
        return (named, rest) if named and rest else (self._nodes, word)


def _uuids(node: Node, *, with_absent: bool) -> Iterable[GpuUuid]:
    return dict.fromkeys((*node.gpus, *node.drains, *node.slots)) if with_absent else node.gpus


def current_names(nodes: Collection[Node], gpus: Iterable[NamedGpu | int]) -> list[int | str]:
    """How the GPUs that a job names are called now. A GPU without an index is named by its UUID."""
    return [gpu if isinstance(gpu, int) else _current_name(nodes, gpu.uuid) for gpu in gpus]


def _current_name(nodes: Collection[Node], uuid: GpuUuid) -> int | str:
    return next((name_of(node, uuid, nodes) for node in nodes if uuid in node.gpus), uuid)


def name_of(node: Node, gpu: GpuUuid, nodes: Collection[Node]) -> int | str:
    """How a GPU is named among these nodes."""
    index = node.index_now(gpu)
    return index if index is not None and len(nodes) == 1 else name_with(node.name, index, gpu, nodes)


def name_with(node: NodeName, index: int | None, gpu: GpuUuid, nodes: Collection[object]) -> str:
    """How a GPU with this index is named among these nodes: what a user may type. Its node may have been removed."""
    if index is None:
        return gpu
    return str(index) if len(nodes) == 1 and node in nodes else f"{node}:{index}"
