"""The queue as a whole, its limits and its reservations."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {}
