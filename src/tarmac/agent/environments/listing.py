"""The names in a directory."""

from __future__ import annotations

import os
from typing import List


def names_in(folder: str) -> List[str]:
    """In order; empty if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
