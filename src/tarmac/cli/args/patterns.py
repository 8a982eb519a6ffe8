"""Regular expressions as options."""

from __future__ import annotations


def pattern(word: str) -> str:
    """A regular expression of Python."""
    import re

    try:
        re.compile(word)
    except re.error as error:
        raise ValueError(f"it is not a regular expression: {error}") from None
    return word
