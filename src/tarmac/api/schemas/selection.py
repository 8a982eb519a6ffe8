"""Acting on selected jobs: kill, pause, edit, hold, release, retry, move, remove."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tarmac.api.schemas.bounds import FilterText, Grace
from tarmac.controller.submit.request import EditRequest


class Selection(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to act on. At least one condition is needed; `all` selects every job."""

    ids: list[str] = []
    name: FilterText | None = None
    tag: FilterText | None = None
    state: FilterText | None = None
    owner: FilterText | None = None


class KillRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    grace_s: Grace | None = None


class KillAnswer(Struct, kw_only=True):
    """`unwritten`: why the request is not on disk yet. Running jobs were signalled; `not_asked` are the others."""

    asked: list[int]
    already_ended: list[int]
    not_asked: list[int] = []
    unwritten: str | None = None


class EditManyRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    changes: EditRequest


class MoveManyRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    """The selected jobs take this place and the following ones, in their order."""

    position: Annotated[int, Meta(ge=1, le=2**31)]


class MovedJob(Struct, kw_only=True):
    id: int
    position: int
    priority: int


class MoveManyAnswer(Struct, kw_only=True):
    moved: list[MovedJob]
    not_waiting: list[int]


class EditAnswer(Struct, kw_only=True):
    edited: list[int]
    not_waiting: list[int]


class HoldAnswer(Struct, kw_only=True):
    held: list[int]
    not_waiting: list[int]


class ReleaseAnswer(Struct, kw_only=True):
    released: list[int]
    not_held: list[int]


class PauseRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    """`count_paused`: the pause counts against the time limits of the jobs."""

    count_paused: bool = False


class NotPaused(Struct, kw_only=True):
    id: int
    state: str


class PauseAnswer(Struct, kw_only=True):
    """`paused`: these jobs are paused now, also if they were before. `not_running`: the others, with their states."""

    paused: list[int]
    not_running: list[NotPaused]


class ResumeAnswer(Struct, kw_only=True):
    resumed: list[int]
    not_paused: list[NotPaused]


class RetryRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    """`failed`: the failed jobs of the caller, or of `owner`, among those that the other conditions select."""

    failed: bool = False


class RetryAnswer(Struct, kw_only=True):
    """`notice`: why the jobs may not start for a while."""

    retried: list[int]
    not_retried: list[int]
    notice: str | None = None


class RemoveAnswer(Struct, kw_only=True):
    removed: list[int]
