"""Active jobs and the newest ended ones, as of one moment: what `tarmac ls` shows."""

from __future__ import annotations

from tarmac.client.records import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.client.jobs import Jobs

PAGE = 2000  # waiting jobs in one answer


class RecentJobs:
    def __init__(self, active: dict[int, Job], ended: list[Job]) -> None:
        self.active = active
        self.ended = ended  # the newest first


def recent_jobs(
    client: Jobs, *, ended: int, most: int | None, alone: bool, fields: str, waiting_fields: str
) -> RecentJobs:
    """`most`: at most as many waiting jobs; None: all of them.

    One answer is of one moment. Of a queue that takes several, what changed meanwhile is asked for at the end, so no
    job is missing.
    """
    query = {"ended": ended, "fields": fields, "waiting_fields": waiting_fields, "alone": "true" if alone else None}
    answer = client.call("GET", "/jobs/recent", query={**query, "waiting": PAGE if most is None else min(most, PAGE)})
    waiting: list[dict[str, Any]] = answer["waiting"]
    after = answer["next"] if most is None else None
    if after is None:
        return RecentJobs({raw["id"]: Job(raw) for raw in [*waiting, *answer["at_work"]]}, _jobs(answer["ended"]))
    found = {raw["id"]: Job(raw) for raw in [*waiting, *answer["at_work"]]}
    listing = {"state": "waiting", "order": "asc", "fields": waiting_fields, "alone": query["alone"]}
    while after is not None:
        page = client.call("GET", "/jobs", query={**listing, "limit": PAGE, "after": after})
        found.update((raw["id"], Job(raw)) for raw in page["jobs"])
        after = page["next"]
    last = client.call("GET", "/jobs/recent", query={**query, "waiting": 1})
    found.update((raw["id"], Job(raw)) for raw in last["at_work"])
    over = {raw["id"] for raw in last["ended"]}
    return RecentJobs({number: job for number, job in found.items() if number not in over}, _jobs(last["ended"]))


def _jobs(raws: list[dict[str, Any]]) -> list[Job]:
    return [Job(raw) for raw in raws]
