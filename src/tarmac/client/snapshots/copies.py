"""New snapshots for copies of jobs: one for each directory that the original jobs were submitted from."""

from __future__ import annotations

import os

from tarmac.client.snapshots.take import take
from tarmac.errors import NotFound, TarmacError, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tarmac.client.jobs import Jobs

TRIES = 2
FILTERS = ("name", "tag", "state", "owner", "group")


def cloned(client: Jobs, body: dict[str, Any], on_hint: Callable[[str], object] | None) -> list[int]:
    """The ids of the copies. `body` is the request without snapshots."""
    if client.remote is not None:
        raise UserError(
            f"--snapshot takes the directory of a job, which is on {client.remote.name}",
            "leave it out, or queue the job with `tarmac add --snapshot`",
        )
    numbers = _numbers(client, body)
    places: dict[tuple[str, tuple[str, ...]], int] = {}
    body["snapshot"] = {}
    for number in numbers:
        place = _place(client, number, (body["changes"] or {}).get("cwd"))
        body["snapshot"][str(number)] = places.setdefault(place, len(places))
    body["snapshots"] = [take(client, cwd, links, on_hint or _ignore) for cwd, links in places]
    for _ in range(TRIES):
        try:
            return _sent(client, body)
        except TarmacError as error:
            if error.key != "snapshot.unknown":
                raise
        body["snapshots"] = [take(client, *place, _ignore, is_lost=True) for place in places]
    return _sent(client, body)


def _sent(client: Jobs, body: dict[str, Any]) -> list[int]:
    copies: list[int] = client.call("POST", "/jobs/clone", body=body)["ids"]
    return copies


def _ignore(_: str) -> None:
    """For a remark that was made before, or that is not wanted."""


def _numbers(client: Jobs, body: dict[str, Any]) -> list[int]:
    """The selected jobs. The request names these, and no others that match meanwhile."""
    filters = {name: body.pop(name) for name in FILTERS if name in body}
    numbers = [job.id for job in client.jobs(body["ids"] or None, **filters, fields="id")]
    if not numbers:
        raise NotFound("no matching jobs", "run `tarmac ls` to list the jobs")
    body["ids"] = list(map(str, numbers))
    if filters.get("group") is not None:
        body["group"] = filters["group"]  # copies of a group are a group
    return numbers


def _place(client: Jobs, number: int, new_cwd: str | None) -> tuple[str, tuple[str, ...]]:
    """The directory, and the paths in it that the snapshot of the original links to."""
    if new_cwd is not None:
        return new_cwd, ()
    job = client.job(number)
    if not os.path.isdir(job.cwd):
        raise UserError(
            f"{job.cwd}, where job {number} was submitted, does not exist",
            "choose another directory with --cwd, or leave out --snapshot",
        )
    old = job.snapshot
    return job.cwd, () if old is None else tuple(os.path.join(old["root"], link) for link in old["links"])
