"""What a field of a request must be, and requests that no route can answer."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {}
