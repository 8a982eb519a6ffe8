"""Bounds that several requests share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

FilterText = Annotated[str, Meta(max_length=4096)]  # as long as a name; SQLite refuses globs of 50,000 bytes
Pid = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Grace = Annotated[float, Meta(ge=0, le=86400)]
