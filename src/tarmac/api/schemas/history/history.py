"""Ended jobs: listing and searching them."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from tarmac.api.schemas.bounds import FilterText
from tarmac.api.schemas.history.report import Moment
from tarmac.api.schemas.job.job import JobView
from tarmac.core.model.ids import LARGEST_ID
from tarmac.shared.numbers import LARGEST

MOST_PER_PAGE = 2000
MOST_AT_ONCE = 10_000


class HistoryConditions(Struct, kw_only=True, forbid_unknown_fields=True):
    """`search`: words that must all occur in a job's texts. `since` and `until`: of its end, in seconds since 1970."""

    search: FilterText | None = None
    state: FilterText | None = None
    owner: FilterText | None = None
    project: FilterText | None = None  # empty: jobs without one
    tag: FilterText | None = None
    node: FilterText | None = None  # of the last attempt
    name: FilterText | None = None
    since: Moment | None = None
    until: Moment | None = None


class HistoryQuery(HistoryConditions, kw_only=True, forbid_unknown_fields=True):
    """Which ended jobs to list, and which fields of them."""

    limit: Annotated[int, Meta(ge=1, le=MOST_PER_PAGE)] = 100
    after: FilterText | None = None
    fields: str | None = None


class HistoryCsvQuery(HistoryConditions, kw_only=True, forbid_unknown_fields=True):
    """Which ended jobs to write, the newest first. Without `limit`, all of them."""

    limit: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None


class HistoryView(Struct, kw_only=True):
    """Pass `next` as `after` to get the next page; it is null on the last one.

    `unindexed`: while the index is built, how many jobs, the oldest ones, it does not have yet.
    """

    jobs: list[JobView]
    next: str | None
    unindexed: int


class CleanRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which ended jobs to remove: your own, those of `owner`, or with `all_owners` those of all users.

    `before` is a time in seconds since 1970: jobs that ended earlier. With `before_id`, also those that ended just then
    and have a lower id. `keep`: not the newest ones. `after`: `last` of the answer before.
    """

    before: Moment | None = None
    before_id: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None
    state: FilterText | None = None
    keep: Annotated[int, Meta(ge=0, le=LARGEST)] = 0
    owner: FilterText | None = None
    all_owners: bool = False
    after: Annotated[int, Meta(ge=0, le=LARGEST)] = 0
    limit: Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)] = 2000


class CleanPreview(Struct, kw_only=True):
    """What would be removed. `kept`: jobs that match and stay, because waiting jobs depend on them.

    Pass `before` and `before_id` on to remove these jobs and none that end meanwhile.
    """

    jobs: int
    log_bytes: int
    database_bytes: int
    oldest: str | None
    newest: str | None
    kept: int
    before: float
    before_id: int


class CleanAnswer(Struct, kw_only=True):
    """`last`: pass it as `after` to remove the next jobs; null when none is left."""

    removed: int
    last: int | None


class ExportQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which ended jobs to export, by id. `environment`: with their variables, but without the values of secrets."""

    ids: str | None = None
    state: FilterText | None = None
    owner: FilterText | None = None
    name: FilterText | None = None
    tag: FilterText | None = None
    environment: bool = False
    after: Annotated[int, Meta(ge=0, le=LARGEST)] = 0
    limit: Annotated[int, Meta(ge=1, le=MOST_PER_PAGE)] = 500


class ExportPage(Struct, kw_only=True):
    """The first line of the file, and some of the others. Pass `next` as `after` to get the next ones."""

    header: dict[str, Any]
    records: list[dict[str, Any]]
    next: int | None


class ImportLine(Struct, kw_only=True, forbid_unknown_fields=True):
    line: Annotated[int, Meta(ge=0, le=LARGEST)]
    record: dict[str, Any]


class ImportRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Lines of an exported file. `above`: the highest id in the file. `dry_run`: only check them."""

    header: dict[str, Any]
    lines: Annotated[list[ImportLine], Meta(max_length=MOST_PER_PAGE)]
    above: Annotated[int, Meta(ge=0, le=LARGEST_ID)] = 0
    dry_run: bool = False


class ImportedView(Struct, kw_only=True):
    """`new`: false if the job was here already."""

    id: int
    new: bool


class ImportAnswer(Struct, kw_only=True):
    """The jobs, in the order of the lines."""

    jobs: list[ImportedView]


class ImportLogRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """A part of the log of an imported job, in base64."""

    job: Annotated[int, Meta(ge=1, le=LARGEST)]
    attempt: Annotated[int, Meta(ge=1, le=LARGEST)]
    offset: Annotated[int, Meta(ge=0, le=LARGEST)]
    data: bytes


class ImportLogAnswer(Struct, kw_only=True):
    job: int
