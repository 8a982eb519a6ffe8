"""Why a job waits: its reasons, the GPUs one by one, its place and its estimated start."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {
    "waiting.unwritten": Message("nothing can be written, and nothing starts until it can: {problem}"),
}
