"""What a plan decides: events for the core, what to commit beside them, and the answer for the caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    from tarmac.core.events import Event
    from tarmac.core.model.ids import JobId
    from tarmac.core.state import State
    from tarmac.store.writer import Sample, Submission

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[T]):
    answer: T
    events: Sequence[Event] = ()
    environments: Mapping[str, bytes] = field(default_factory=dict)
    submission: Submission | None = None
    removed: Sequence[JobId] = ()
    settings: Mapping[str, str | None] = field(default_factory=dict)  # None removes the stored value
    samples: Sequence[Sample] = ()
    samples_from: int | None = None  # older samples are deleted


# Called when its turn comes, with the newest state. It must not change the state, and may raise Refused.
Plan: TypeAlias = Callable[["State"], Decision[T]]
