"""The warning that a job gets before its time limit: `USR1@120`, or `B:USR1@120` for its main process only.

The syntax is that of Slurm's `--signal`.
"""

from __future__ import annotations

from typing import NamedTuple

from tarmac.shared.units import LONGEST_S, parse_duration

MAIN = "B:"
UNCATCHABLE = (9, 19)  # KILL and STOP of Linux
_LAST_SIGNAL = 64


class EndWarning(NamedTuple):
    signal: int
    before_s: float
    main_only: bool


def is_warning(text: str) -> bool:
    """True for what cannot be a plain signal."""
    return "@" in text or ":" in text


def parse_warning(text: str) -> EndWarning:
    """Raises ValueError that says what to write instead."""
    main_only = text.upper().startswith(MAIN)
    name, at, before = (text[len(MAIN) :] if main_only else text).partition("@")
    if not at or ":" in name:
        raise ValueError("it must be [B:]SIGNAL@TIME, such as USR1@120 or B:USR1@2m")
    signum = signal_number(name)
    if signum is None:
        raise ValueError("before the @ it must have a signal, such as USR1, INT or 10")
    if signum in UNCATCHABLE:
        raise ValueError("no process can catch that signal; choose another, such as USR1")
    try:
        before_s = parse_duration(before, bare_is_seconds=True)
    except ValueError:
        raise ValueError("after the @ it must have a time, such as 120, 90s or 2m") from None
    if not 0 < before_s <= LONGEST_S:
        raise ValueError("after the @ it must have a time of more than 0")
    return EndWarning(signum, before_s, main_only)


def signal_number(name: str) -> int | None:
    """The number of USR1, SIGUSR1 or 10; None if no such signal exists."""
    plain = name.upper()
    plain = plain[3:] if plain.startswith("SIG") else plain
    if plain.isdecimal() and plain.isascii():
        number = int(plain[:9])
        return number if 1 <= number <= _LAST_SIGNAL else None
    found = getattr(__import__("_signal"), f"SIG{plain}", None) if plain.isalnum() else None
    return int(found) if isinstance(found, int) else None
