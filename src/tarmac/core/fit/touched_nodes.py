"""Which nodes changed since a cache last looked, and what was computed for each node until it changes."""

from __future__ import annotations

from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.node import Node

Value = TypeVar("Value")


@dataclass(slots=True, eq=False)
class TouchedNodes:
    """The nodes in the order they last changed. Positions only grow; 0 is before every change."""

    position: int = 0
    names: list[NodeName] = field(default_factory=list)  # in the order they joined
    numbers: dict[NodeName, int] = field(default_factory=dict)  # the place of each in `names`
    _positions: dict[NodeName, int] = field(default_factory=dict)  # of the last change of each, in ascending order

    def touch(self, name: NodeName) -> None:
        self.position += 1
        self._positions.pop(name, None)
        self._positions[name] = self.position

    def add_new(self, nodes: dict[NodeName, Node]) -> None:
        """Number the nodes that joined. When one is removed from the state, all caches begin anew."""
        if len(nodes) == len(self.names):
            return
        for name in islice(nodes, len(self.names), None):
            self.numbers[name] = len(self.names)
            self.names.append(name)
            self.touch(name)

    def since(self, position: int) -> list[NodeName]:
        """The nodes that changed after this position, the latest first."""
        if position == self.position:
            return []
        found = []
        for name, changed in reversed(self._positions.items()):
            if changed <= position:
                break
            found.append(name)
        return found

    def last_change(self, name: NodeName) -> int:
        return self._positions.get(name, 0)


class PerNode(Generic[Value]):
    """A value for each node, until the node changes."""

    __slots__ = ("_touched", "_values")

    def __init__(self, touched: TouchedNodes) -> None:
        self._touched = touched
        self._values: dict[NodeName, tuple[int, Value]] = {}

    def get(self, name: NodeName) -> Value | None:
        entry = self._values.get(name)
        return None if entry is None or entry[0] < self._touched.last_change(name) else entry[1]

    def put(self, name: NodeName, value: Value) -> Value:
        self._values[name] = (self._touched.position, value)
        return value

    def clear(self) -> None:
        self._values.clear()

    def items(self) -> Iterator[tuple[NodeName, Value]]:
        """The values that are still in date."""
        for name, (position, value) in self._values.items():
            if position >= self._touched.last_change(name):
                yield name, value
