"""Which GPUs are meant by an index, a UUID or the beginning of one, as the GPUs are numbered at this moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tarmac.core.model.gpu import NamedGpu
from tarmac.errors import Unavailable, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    gpus: tuple[NamedGpu, ...]  # each once, by index
    most_on_a_node: int  # an index means a GPU of every node


class GpuNames:
    """Remembers what was asked: an array asks the same a hundred thousand times."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = list(nodes)
        self._found: dict[tuple[int | str, ...], Found] = {(): Found(gpus=(), most_on_a_node=0)}

    def found(self, words: tuple[int | str, ...]) -> Found:
        """Raises UserError that names the word that means no GPU, or several; Unavailable while nobody can say."""
        if words not in self._found:
            self._found[words] = self._find(words)
        return self._found[words]

    def there_are(self) -> str:
        known = [(node.index_now(gpu.uuid), gpu) for node in self._nodes for gpu in node.gpus.values()]
        return ", ".join(gpu.uuid if index is None else str(index) for index, gpu in known) or "none"

    def _find(self, words: tuple[int | str, ...]) -> Found:
        # What was meant by a number cannot be found out later, when another GPU may have it.
        if not any(node.has_told_gpus for node in self._nodes):
            raise Unavailable("which GPUs there are is not known yet", hint="try again in a moment")
        gpus = {(node.name, gpu.uuid): gpu for word in words for node, gpu in self._meant(word)}
        on_nodes = Counter(node for node, _ in gpus)
        named = {NamedGpu(uuid=gpu.uuid, index=gpu.index) for gpu in gpus.values()}
        return Found(
            gpus=tuple(sorted(named, key=lambda gpu: (gpu.index, gpu.uuid))),
            most_on_a_node=max(on_nodes.values()),
        )

    def _meant(self, word: int | str) -> list[tuple[Node, Gpu]]:
        known = [(node, gpu) for node in self._nodes for gpu in node.gpus.values()]
        if isinstance(word, int) or (word.isascii() and word.isdecimal()):
            found = [(node, gpu) for node, gpu in known if node.index_now(gpu.uuid) == int(word)]
        else:
            exact = [(node, gpu) for node, gpu in known if gpu.uuid == word]
            found = exact or [(node, gpu) for node, gpu in known if gpu.uuid.lower().startswith(word.lower())]
            if len(found) > 1:
                raise UserError(
                    f"{word} is the beginning of {len(found)} GPUs",
                    hint=f"give more of it: {', '.join(gpu.uuid for _, gpu in found[:8])}",
                )
            if not found:
                raise UserError(
                    f"there is no GPU whose UUID begins with {word}", hint="`tarmac gpus --json` tells the UUIDs"
                )
        if not found:
            raise UserError(f"there is no GPU {word}", hint=f"there are: {self.there_are()}; `tarmac gpus` shows them")
        return found
