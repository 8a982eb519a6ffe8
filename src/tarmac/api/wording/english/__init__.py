"""The English messages, one file per topic. Another language is another package like this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.wording.english import (
    backup,
    gpus,
    hints,
    history,
    jobs,
    nodes,
    notes,
    notifications,
    page,
    queue,
    requests,
    server,
    settings,
    snapshots,
    submit,
    waiting,
)

if TYPE_CHECKING:
    from tarmac.api.wording.catalogue.message import Message

_TOPICS = (
    submit, hints, jobs, gpus, nodes, notes, notifications, queue, settings, waiting, history, backup, snapshots,
    page, requests, server,
)  # fmt: skip
ENGLISH: dict[str, Message] = {key: message for topic in _TOPICS for key, message in topic.MESSAGES.items()}
