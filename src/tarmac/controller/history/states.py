"""The states of ended jobs, as people name them."""

from __future__ import annotations

from tarmac.refusal import invalid
from tarmac.shared.names import ENDED

KNOWN = (*ENDED, "unknown")


def ended_states(words: str | None) -> tuple[str, ...]:
    """One or more, with commas. `ended` means all. Refuses states in which a job has not ended."""
    named = [word.strip() for word in (words or "").split(",") if word.strip()]
    for word in named:
        if word not in KNOWN and word != "ended":
            raise invalid("history.not_ended", state=word, known=[*KNOWN])
    return () if "ended" in named else tuple(dict.fromkeys(named))
