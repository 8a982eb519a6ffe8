"""The event stream."""

from __future__ import annotations

from msgspec import Struct


class EventsQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    jobs: str | None = None
    live: bool = False  # also what changes without a commit: progress, places in the queue, counts of groups, nodes
