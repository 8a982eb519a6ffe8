"""Bounds that several requests share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Grace = Annotated[float, Meta(ge=0, le=86400)]
