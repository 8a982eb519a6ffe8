"""What `tarmac ls` shows: jobs, and groups of jobs with one line each."""

from __future__ import annotations

from tarmac.cli.args.selectors import is_given, query_of
from tarmac.cli.render.jobs import RECENT, fetch_all, fetch_recent, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.answers import Group
    from tarmac.client.records import Job

RECENT_GROUPS = 3  # ended ones that are shown


class Asked:
    """What the user wants to see."""

    def __init__(self, values: Values, words: list[str]) -> None:
        self.query = query_of(values, words)
        if values["node"] is not None:
            self.query["node"] = values["node"]
        self.limit: int | None = values["number"]
        self.has_selection = is_given(values, words) or values["node"] is not None
        self.wants_all = bool(values["all"])
        self.is_expanded = bool(values["expand"]) or self.has_selection
        self.wants_groups_only = bool(values["groups"])
        self.group: str | None = values["group"]
        self.owner: str | None = values["owner"]


class Listing:
    def __init__(self, jobs: Sequence[Job] = (), groups: Sequence[Group] = (), *, has_more: bool = False) -> None:
        self.jobs = jobs
        self.groups = groups
        self.has_more = has_more

    def __bool__(self) -> bool:
        return bool(self.jobs or self.groups)


def fetch(client: Client, asked: Asked, *, most: int | None = None) -> Listing:
    """`most`: at most as many waiting jobs, to keep frequent requests cheap."""
    if asked.wants_groups_only:
        return Listing(groups=client.groups(owner=asked.owner, limit=asked.limit))
    if asked.has_selection or (asked.wants_all and asked.is_expanded):
        found = fetch_all(client, asked.query, limit=asked.limit or most)
        return Listing(found, [] if asked.group is None else [client.group(asked.group)])
    if asked.wants_all:
        return Listing(fetch_all(client, asked.query, limit=asked.limit or most, alone=True), client.groups())
    jobs, has_more = fetch_recent(client, limit=asked.limit, most=most, alone=not asked.is_expanded)
    if asked.is_expanded:
        return Listing(jobs, has_more=has_more)
    ended = RECENT_GROUPS if asked.limit is None else min(asked.limit, RECENT)
    groups = client.groups(state="active")
    groups += client.groups(state="ended", limit=ended) if ended else []
    return Listing(jobs, groups, has_more=has_more)


def lines(listing: Listing, *, width: int | None, has_colours: bool) -> list[str]:
    """The jobs, then the groups, which are fewer and are looked at more."""
    found = table(listing.jobs, width=width, has_colours=has_colours) if listing.jobs else []
    if listing.groups:
        from tarmac.cli.render.groups import groups_table

        found += ["", *groups_table(listing.groups, width=width, has_colours=has_colours)][not found :]
    return found
