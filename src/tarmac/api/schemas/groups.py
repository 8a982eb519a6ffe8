"""Arrays, sweeps and batches."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tarmac.api.schemas.bounds import FilterText
from tarmac.shared.numbers import LARGEST

MOST_PER_PAGE = 1000


class GroupsQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """`state`: groups with a job that has not ended, or those without. The newest are first."""

    state: Literal["active", "ended"] | None = None
    owner: FilterText | None = None
    group: FilterText | None = None  # only this one, by id or name, or `last`
    limit: Annotated[int, Meta(ge=1, le=MOST_PER_PAGE)] = 100
    after: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None


class GroupView(Struct, kw_only=True):
    """`counts`: how many of its jobs are in each state; jobs that were removed count nowhere."""

    id: int  # of its first job
    kind: str
    name: str | None
    owner: str
    command: str  # with placeholders
    varies: str  # what differs between its jobs, in short
    params: list[str]  # names of a sweep's parameters
    indices: str | None  # of an array
    count: int  # of the jobs that were submitted
    last: int  # the id of its last job
    counts: dict[str, int]
    ended: int
    max_running: int | None
    submitted_at: str


class GroupPage(Struct, kw_only=True):
    """Pass `next` as `after` to get the next page; it is null on the last one."""

    groups: list[GroupView]
    next: int | None
