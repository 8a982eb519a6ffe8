"""What a setting is: its name, how it is written, what it means and what holds where nobody says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    kind: str  # fraction, seconds, count, size, words, text, flag, per name or choice
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    least: float = 0  # of the numbers per name
