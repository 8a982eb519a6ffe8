"""Bounds that several requests share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

LARGEST = 2**63 - 1  # of an integer in SQLite, and of an offset in a file

Pid = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Grace = Annotated[float, Meta(ge=0, le=86400)]
