"""Whole numbers as text."""

from __future__ import annotations

from typing import Optional

LARGEST = 2**63 - 1  # of an integer in SQLite, and of an offset in a file


def whole_number(text: str, most: int = LARGEST) -> Optional[int]:
    """The number that ASCII digits spell, None for any other text and for numbers above `most`.

    int() alone also reads the digits of other scripts, and refuses thousands of digits with an error.
    """
    if not (text.isdecimal() and text.isascii()):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(most)) and int(digits) <= most else None
