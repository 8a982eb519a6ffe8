"""The event stream."""

from __future__ import annotations

from msgspec import Struct


class EventsQuery(Struct, kw_only=True):
    jobs: str | None = None
