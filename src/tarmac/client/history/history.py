"""Requests about ended jobs: listing, searching and removing them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, TypedDict

    from tarmac.client.connection import Link

    class CleanPreview(TypedDict):
        jobs: int
        log_bytes: int
        database_bytes: int
        oldest: str | None
        newest: str | None
        kept: int
        before: float
        before_id: int


CLEAN_S = 300  # a million jobs take their time
PAGE = 500  # jobs in one answer


def pages(
    link: Link, query: Mapping[str, object], limit: int | None, on_unindexed: Callable[[int], object] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """The raw pages of the history, at most `limit` jobs in all, the newest first.

    `on_unindexed` is called with the number of jobs that the index does not have yet, if there are any.
    """
    after, left = None, limit
    while left is None or left > 0:
        size = PAGE if left is None else min(left, PAGE)
        answer = link.call("GET", "/history", query={**query, "limit": size, "after": after})
        if answer["unindexed"] and on_unindexed is not None:
            on_unindexed(answer["unindexed"])
            on_unindexed = None
        yield answer["jobs"]
        after = answer["next"]
        left = None if left is None else left - len(answer["jobs"])
        if after is None:
            return


def preview_cleaning(link: Link, wanted: Mapping[str, object]) -> CleanPreview:
    """What `clean` would remove."""
    preview: CleanPreview = link.call("POST", "/history/clean/preview", body=dict(wanted), within_s=CLEAN_S)
    return preview


def clean(link: Link, wanted: Mapping[str, object]) -> Iterator[int]:
    """Remove ended jobs. Yields how many were removed, part by part."""
    preview = preview_cleaning(link, wanted)
    fixed = {name: value for name, value in wanted.items() if name not in {"keep", "before", "before_id"}}
    yield from clean_previewed(link, {**fixed, "before": preview["before"], "before_id": preview["before_id"]})


def clean_previewed(link: Link, wanted: Mapping[str, object]) -> Iterator[int]:
    """As `clean`, for exactly the jobs of a preview."""
    after: int | None = 0
    while after is not None:
        answer = link.call("POST", "/history/clean", body={**wanted, "after": after}, within_s=CLEAN_S)
        yield answer["removed"]
        after = answer["last"]
