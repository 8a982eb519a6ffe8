"""Parameters and metrics of jobs."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tarmac.api.schemas.groups import GroupView
from tarmac.api.schemas.job.selection import Selection

MOST_METRICS = 50


class MetricRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """A regular expression, and the group of its last match in the log that is the value.

    Without a name, the pattern says it: each named group is a metric, or the text before its `=` or `:` is the name.
    """

    name: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    pattern: Annotated[str, Meta(min_length=1, max_length=4096)]
    group: int | str = 0


class ResultsRequest(Selection, kw_only=True, forbid_unknown_fields=True):
    """`json`: a file in the working directory of each job, with the values under `keys`, or all of them."""

    metrics: Annotated[tuple[MetricRequest, ...], Meta(max_length=MOST_METRICS)] = ()
    json: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    keys: Annotated[tuple[str, ...], Meta(max_length=MOST_METRICS)] = ()


class ResultsCsvRequest(ResultsRequest, kw_only=True, forbid_unknown_fields=True):
    """`sort`: the metric that decides the order, by default the first. `smaller_first`: by default, by its name."""

    sort: Annotated[str, Meta(max_length=200)] | None = None
    smaller_first: bool | None = None


class ResultView(Struct, kw_only=True):
    """A metric that was not found is null."""

    id: int
    name: str | None
    state: str
    index: int | None
    params: dict[str, str]
    metrics: dict[str, float | str | None]


class ResultsView(Struct, kw_only=True):
    """`unread`: jobs whose node, or file system, does not answer.

    `smaller_is_better`: metrics of which, by their names, the smallest value is the best.
    """

    group: GroupView | None
    metrics: list[str]
    smaller_is_better: list[str]
    jobs: list[ResultView]
    unread: list[int]
