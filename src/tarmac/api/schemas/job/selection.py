"""Acting on selected jobs: kill, pause, edit, hold, release, retry, move, remove."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tarmac.api.schemas.bounds import FilterText, Grace
from tarmac.controller.submit.request import EditRequest, Note, SnapshotRequest, Tags, Text
from tarmac.core.model.names import Entry

MOST_EDITED = 10_000  # jobs that one request changes, each in its own way
JobNumber = Annotated[str, Meta(pattern="^[0-9]{1,18}$")]


class Selection(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which jobs to act on. At least one condition is needed; `all` selects every job."""

    ids: list[str] = []
    name: FilterText | None = None
    tag: FilterText | None = None
    state: FilterText | None = None
    owner: FilterText | None = None
    group: FilterText | None = None  # by id or name, or `last`


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


class EditEachRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """`jobs`: the changes of each job, by id."""

    jobs: Annotated[dict[JobNumber, EditRequest], Meta(min_length=1, max_length=MOST_EDITED)]


class LabelRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    """Another name, tags or note, for jobs in any state. Null removes the name or the note."""

    set_name: Text | UnsetType | None = UNSET
    add_tags: Tags = ()
    remove_tags: Tags = ()
    set_note: Note | UnsetType | None = UNSET


class LabelAnswer(Struct, kw_only=True):
    labelled: list[int]


class CloneRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    """`rerun`: the copies repeat the jobs, and are linked to them. `changes`: to the options of the copies.

    `snapshot`: which of the `snapshots` the copy of each job runs, by the id of the job; false: what is in its
    directory when it starts; null: the snapshot of the job, if it has one.
    """

    changes: EditRequest | None = None
    snapshots: Annotated[list[SnapshotRequest], Meta(max_length=1000)] = []
    snapshot: dict[JobNumber, Annotated[int, Meta(ge=0)]] | bool | None = None
    rerun: bool = False
    entry: Entry = "queued"


class CloneAnswer(Struct, kw_only=True):
    """The copies, in the order of the jobs."""

    ids: list[int]
    of: list[int]


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
    """`reason`: why, if the state does not say it."""

    id: int
    state: str
    reason: str | None = None


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


class NotRetried(Struct, kw_only=True):
    id: int
    reason: str  # a sentence


class RetryAnswer(Struct, kw_only=True):
    """`notice`: why the jobs may not start for a while, or will fail again."""

    retried: list[int]
    not_retried: list[NotRetried]
    notice: str | None = None


class RemoveAnswer(Struct, kw_only=True):
    removed: list[int]
