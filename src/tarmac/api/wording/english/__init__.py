"""The English messages, one file per topic. Another language is another package like this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.wording.english import (
    gpus,
    hints,
    jobs,
    nodes,
    notes,
    notifications,
    queue,
    requests,
    server,
    settings,
    submit,
    waiting,
)

if TYPE_CHECKING:
    from tarmac.api.wording.message import Message

_TOPICS = (submit, hints, jobs, gpus, nodes, notes, notifications, queue, settings, waiting, requests, server)
ENGLISH: dict[str, Message] = {key: message for topic in _TOPICS for key, message in topic.MESSAGES.items()}
