"""A record behaves as if the standard library had made it."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from tarmac import records
from tarmac.core.model.gpu import NamedGpu

Decorator = Callable[..., Callable[[type], type]]

KINDS: list[dict[str, bool]] = [
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "slots": True},
    {"slots": True, "kw_only": True},
    {"slots": True},
    {"slots": True, "eq": False},
]


def point(decorator: Decorator, **kind: bool) -> Any:
    @decorator(**kind)
    class Point:
        x: int
        y: float | None = None
        tags: list[str] = field(default_factory=list)
        index: int = field(default=0, compare=False)
        secret: str = field(default="s", repr=False)

        @property
        def double(self) -> int:
            return 2 * self.x

    return Point


def derived(decorator: Decorator, **kind: bool) -> Any:
    @decorator(**kind)
    class Solid(point(decorator, **kind)):  # type: ignore[misc]
        depth: int = 7
        volume: int = field(init=False)
        made: int = field(default=5, init=False)
        parts: list[int] = field(default_factory=list, init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "volume", self.x * self.depth)

    return Solid


def empty(decorator: Decorator, **kind: bool) -> Any:
    @decorator(**kind)
    class Empty:
        """Carries nothing."""

    return Empty


def with_methods(decorator: Decorator, **kind: bool) -> Any:
    @decorator(**kind)
    class Own:  # noqa: PLW1641 - the decorator adds it
        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.x // 10 == other.x // 10

        def __repr__(self) -> str:
            return "own"

    return Own


def outcome(act: Callable[[], Any]) -> Any:
    """What it returns, or the type of what it raises."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - they are compared
        return type(error)


def seen(cls: Any) -> list[Any]:
    """What a caller can see of the class."""
    starts: list[dict[str, Any]] = [{}, {"x": 1}, {"x": 1, "y": 2.0, "tags": ["a"], "index": 3}, {"z": 1}]
    found: list[Any] = [[(one.name, one.init, one.kw_only) for one in dataclasses.fields(cls)], cls.__match_args__]
    found.append([(one.name, one.kind) for one in inspect.signature(cls).parameters.values()])
    found.append((cls.__name__, cls.__qualname__, cls.__init__.__name__, cls.__init__.__module__))
    found.append(outcome(lambda: cls(1)) is TypeError)
    for start in starts:
        one, same, other = (outcome(lambda start=start: cls(**start)) for _ in range(3))
        if isinstance(one, type):
            found.append(one)
            continue
        found += [
            repr(one),
            one == same,
            one != same,
            one == 1,
            outcome(lambda one=one, same=same: hash(one) == hash(same)),
        ]
        found += [outcome(lambda one=one: dataclasses.asdict(one)), hasattr(one, "__dict__"), dataclasses.astuple(one)]
        found.append(outcome(lambda one=one: repr(dataclasses.replace(one, x=9))))
        found.append(outcome(lambda one=one: one == dataclasses.replace(one, index=8)))
        found.append(repr(copy.deepcopy(one)))
        if hasattr(one, "x"):
            found.append(outcome(lambda one=one: setattr(one, "x", 3)))
            found.append(outcome(lambda other=other: delattr(other, "x")))
        found.append(getattr(same, "tags", None) is not getattr(one, "tags", None))
    return found


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
@pytest.mark.parametrize("make", [point, derived, empty, with_methods])
def test_it_behaves_like_the_standard_one(make: Callable[..., Any], kind: dict[str, bool]) -> None:
    assert seen(make(records.dataclass, **kind)) == seen(make(dataclasses.dataclass, **kind))


def test_a_record_can_be_copied_and_pickled() -> None:
    gpu = NamedGpu(uuid="GPU-1", index=3)
    assert pickle.loads(pickle.dumps(gpu)) == gpu
    assert copy.copy(gpu).index == copy.deepcopy(gpu).index == 3


def test_a_frozen_record_says_which_field_it_refuses() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'index'"):
        NamedGpu(uuid="GPU-1", index=3).index = 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'index'"):
        del NamedGpu(uuid="GPU-1", index=3).index


def test_classes_without_slots_are_left_to_the_standard_one() -> None:
    with pytest.raises(AssertionError, match="standard library"):
        records.dataclass(slots=False)
