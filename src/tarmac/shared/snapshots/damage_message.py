"""How a node says that it cannot check out a job's snapshot, and how the controller recognizes a damaged one.

The words are part of the protocol: nodes and attempts of older versions report nothing else.
"""

from __future__ import annotations

_CANNOT = "its snapshot cannot be checked out: "
_HINT = "; submit the job again from the original files"


def no_checkout(trouble: str) -> str:
    """The snapshot itself is intact: a disk is full, or a directory cannot be written."""
    return f"{_CANNOT}{trouble}"


def damaged(trouble: object) -> str:
    return f"{_CANNOT}{trouble}{_HINT}"


def says_damaged(message: str) -> bool:
    return message.startswith(_CANNOT) and message.endswith(_HINT)
