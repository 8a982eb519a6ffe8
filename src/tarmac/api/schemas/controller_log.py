"""The controller's own log."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class ControllerLogQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Without `after`, the last lines; with it, what was written since the answer with that `next`."""

    lines: Annotated[int, Meta(ge=1, le=2000)] = 500
    after: Annotated[str, Meta(max_length=64)] | None = None


class ControllerLogPart(Struct, kw_only=True):
    """`cut`: lines before it are left out."""

    text: str
    next: str
    cut: bool
