"""Submitting, listing, awaiting and reading jobs, and acting on a single one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tarmac.api.schemas.bounds import FilterText, Pid
from tarmac.api.schemas.job.job import GpuRef, JobView
from tarmac.shared.numbers import LARGEST
from tarmac.shared.units import LONGEST_S

MOST_PER_PAGE = 10_000
LONGEST_WAIT_S = 300


class StartView(Struct, kw_only=True):
    """When a job would start, and what it would wait for: nothing if it would start at once."""

    estimated_start: str | None
    estimate_basis: str | None
    reasons: list[str]


class SubmitAnswer(Struct, kw_only=True):
    """`hints`: sentences for the submitter, such as what the last runs took beside what the job reserves.

    `start`: only of a dry run: when the first job would start.
    """

    ids: list[int]
    hints: list[str] = []
    start: StartView | UnsetType = UNSET


class JobsQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    ids: str | None = None
    state: FilterText | None = None
    owner: FilterText | None = None
    name: FilterText | None = None
    tag: FilterText | None = None
    group: FilterText | None = None  # by id or name, or `last`
    node: FilterText | None = None  # that the job runs on, or ran on last
    alone: bool = False  # only jobs that are not part of a group
    limit: Annotated[int, Meta(ge=1, le=MOST_PER_PAGE)] = 1000
    after: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None
    order: Literal["asc", "desc"] = "asc"
    fields: str | None = None


class JobPage(Struct, kw_only=True):
    """Pass `next` as `after` to get the next page; it is null on the last one."""

    jobs: list[JobView]
    next: int | None


class RecentQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """`ended` and `waiting`: how many of these at most. `waiting_fields`: of waiting jobs, which may be many."""

    ended: Annotated[int, Meta(ge=0, le=MOST_PER_PAGE)] = 10
    waiting: Annotated[int, Meta(ge=1, le=MOST_PER_PAGE)] = 1000
    alone: bool = False  # only jobs that are not part of a group
    fields: str | None = None
    waiting_fields: str | None = None


class RecentJobs(Struct, kw_only=True):
    """Each job once, as of one moment. Pass `next` to `GET /jobs?state=waiting` as `after` to get more waiting jobs."""

    at_work: list[JobView]
    waiting: list[JobView]  # by id
    ended: list[JobView]  # the newest first
    next: int | None


class WaitQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """`known`: the last `notice`, empty at first. With it, the answer comes as soon as there is another one.

    `fields`: of the jobs, as in a listing.
    """

    ids: str
    fields: str | None = None
    known: str | None = None
    timeout_s: Annotated[float, Meta(ge=0, le=LONGEST_WAIT_S)] = 30.0


class WaitAnswer(Struct, kw_only=True):
    """`notice`: why the jobs may not end for a while, such as a paused queue or a full disk."""

    jobs: list[JobView]
    pending: list[int]
    notice: str | None


class LogQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    stream: Literal["stdout", "stderr"] = "stdout"
    attempt: Annotated[int, Meta(ge=1, le=2**31)] | None = None
    node: str | None = None  # of a job on several nodes: which one's output; null: the first's
    # Of a follower: the first attempt to read, or the newest if that one has not begun, so that none is skipped.
    from_attempt: Annotated[int, Meta(ge=1, le=2**31)] | None = None
    lines: Annotated[int, Meta(ge=0, le=10**12)] | None = None
    offset: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None
    since_s: Annotated[float, Meta(ge=0, le=LONGEST_S)] | None = None  # what was written in the last seconds, or more
    error: bool = False  # from the last traceback on, or from the first error line
    follow: bool = False
    notices: bool = False  # of a follower: the stream also ends when there is another notice


class StoryEvent(Struct, kw_only=True):
    id: int
    at: str
    attempt: int
    kind: str
    detail: dict[str, Any]


class Story(Struct, kw_only=True):
    events: list[StoryEvent]


class MoveRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """The place among its owner's waiting jobs. The first is 1; a place after the last means the last."""

    position: Annotated[int, Meta(ge=1, le=2**31)]


class MoveAnswer(Struct, kw_only=True):
    position: int
    priority: int


class StartRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """`gpus_on`: indices or UUIDs; by default the GPUs that disturb the fewest jobs. `yes` books a taken GPU twice."""

    gpus_on: Annotated[list[int | str], Meta(min_length=1, max_length=1024)] | None = None
    yes: bool = False


class StartAnswer(Struct, kw_only=True):
    gpus: list[GpuRef]


class AdoptRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    pid: Pid
    gpus: list[int] | None = None
    node: str | None = None
    name: str | None = None


class AdoptAnswer(Struct, kw_only=True):
    id: int
