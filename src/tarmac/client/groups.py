"""Requests about groups of jobs and their results."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NotRequired, TypedDict

    from tarmac.client.answers import Group
    from tarmac.client.connection import Link

    class Metric(TypedDict):
        """A regular expression, and the group of its last match in the log that is the value."""

        name: str
        pattern: str
        group: NotRequired[int | str]

    class Asked(TypedDict, total=False):
        """What results are asked for, and of which jobs."""

        metrics: Sequence[Metric]
        json: str | None  # a file in the working directory of each job
        keys: Sequence[str]  # of that file, such as val.acc; default: all
        name: str
        tag: str
        state: str | None
        owner: str
        group: str


PAGE = 1000  # groups in one answer


def listed(link: Link, query: Mapping[str, object], limit: int | None) -> list[Group]:
    """All groups, page by page, or the newest `limit` of them."""
    found: list[Group] = []
    after = None
    while limit is None or len(found) < limit:
        size = PAGE if limit is None else min(PAGE, limit - len(found))
        answer = link.call("GET", "/groups", query={**query, "limit": size, "after": after})
        found += answer["groups"]
        after = answer["next"]
        if after is None:
            break
    return found
