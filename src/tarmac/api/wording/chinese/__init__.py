"""The Chinese messages: the same rooms and keys as English, with formats of their own. Read when first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.wording.chinese import (
    backup,
    declared,
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
CHINESE: dict[str, Message] = {key: message for topic in _TOPICS for key, message in topic.MESSAGES.items()}
DECLARED: dict[str, str] = declared.SENTENCES
