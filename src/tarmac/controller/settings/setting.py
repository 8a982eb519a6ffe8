"""One row of the table of settings: its name, how it is written, its bounds, its default and its meaning."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from tarmac.records import dataclass
from tarmac.shared.units import LONGEST_S

Kind: TypeAlias = Literal["fraction", "seconds", "count", "size", "words", "text", "flag", "per name", "choice"]
Group: TypeAlias = Literal[
    "scheduling", "limits", "gpus", "waste", "jobs", "reservations", "notifications", "history", "snapshots", "people"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    group: Group  # of related settings, for lists
    kind: Kind
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    least: float = 0  # of a duration, or of each number per user
    most: float = LONGEST_S  # of a duration
