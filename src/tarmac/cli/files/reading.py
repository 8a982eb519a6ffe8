"""Files that the user names, or stdin, read up to a limit."""

from __future__ import annotations

import sys

STDIN = "-"


def read_file(path: str, largest_bytes: int) -> bytes | None:
    """The content; None if it is larger. Raises OSError."""
    if path == STDIN:
        data = sys.stdin.buffer.read(largest_bytes + 1)
    else:
        with open(path, "rb") as file:
            data = file.read(largest_bytes + 1)
    return data if len(data) <= largest_bytes else None
