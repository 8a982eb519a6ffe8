"""The machinery: the agent, the disk, and what only happens when Tarmac itself fails."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {
    "agent.unreachable": Message(
        "the agent is unreachable", "try again in a moment; run `tarmac log agent` to see why"
    ),
    "server.cannot_write": Message(
        "requests cannot be accepted now: {problem}", "free disk space; service resumes automatically"
    ),
}
