"""One row of the table of settings: its name, how it is written, its bounds, its default and its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tarmac.shared.units import LONGEST_S

Kind: TypeAlias = Literal["fraction", "seconds", "count", "size", "words", "text", "flag", "per name", "choice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    kind: Kind
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    least: float = 0  # of a duration, or of each number per user
    most: float = LONGEST_S  # of a duration
