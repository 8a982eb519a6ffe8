"""The queue as a whole."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tarmac.api.schemas.bounds import Grace
from tarmac.api.schemas.notice import NoticeView


class SuspensionView(Struct, kw_only=True):
    """A user whose waiting jobs do not start, because the last ones all failed."""

    owner: str
    reason: str
    since: str


class QueueView(Struct, kw_only=True):
    paused: bool
    draining: bool
    by: str | None
    reason: str | None
    since: str | None
    queued: int
    running: int
    policy: str
    order: str
    suspended: list[SuspensionView]  # users whose jobs all fail
    notice: NoticeView | None  # of the admins to all users


class ResumeRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """With `owner`, only the suspended jobs of this user."""

    owner: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None


class QueueRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(max_length=4096)] | None = None


class QueueStopRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Running jobs become the first in the queue. `requeue` must be true."""

    requeue: bool = False
    grace_s: Grace | None = None


class QueueStopAnswer(Struct, kw_only=True):
    stopping: list[int]
