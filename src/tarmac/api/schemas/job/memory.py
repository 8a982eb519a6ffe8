"""The host memory of a job over time."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class MemoryQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    attempt: Annotated[int, Meta(ge=1, le=2**31)] | None = None  # the latest by default


class MemorySampleView(Struct, kw_only=True):
    at: str
    bytes: int


class MemorySamples(Struct, kw_only=True):
    """The host memory of an attempt: the most of each minute, then every reading that is still in memory."""

    attempt: int
    samples: list[MemorySampleView]
