"""Changes of jobs after their submit: each in its own way, copies, and labels. And the options of jobs."""

from __future__ import annotations

from tarmac.client.jobs import selection
from tarmac.errors import NotFound, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from tarmac.client.connection import Link
    from tarmac.client.jobs import Id, Jobs


def options_of(client: Jobs, job: Id) -> dict[str, Any]:
    """The options of a job by their names in a submit, without its variables."""
    options: dict[str, Any] = client.call("GET", f"/jobs/{client.number_of(job)}/options")
    return options


def options_of_jobs(
    client: Jobs, ids: Iterable[str], filters: Mapping[str, str], most: int
) -> dict[str, dict[str, Any]]:
    """The same for every selected job, by id."""
    found = [job.id for job in client.jobs(ids, **filters, fields="id", limit=most + 1)]  # type: ignore[arg-type]
    if not found:
        raise NotFound("no matching jobs", "run `tarmac ls` to list the jobs")
    if len(found) > most:
        raise UserError(f"more than {most} jobs are selected", "select fewer jobs, or change them by options")
    return {str(number): options_of(client, number) for number in found}


def edit_each(client: Link, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, list[int]]:
    """Change several jobs, each in its own way, or none. Returns the edited jobs and those that were not waiting."""
    answer: dict[str, list[int]] = client.call("PATCH", "/jobs", body={"jobs": dict(changes)})
    return answer


def clone(
    client: Jobs,
    ids: Iterable[Id],
    *,
    rerun: bool = False,
    entry: str = "queued",
    changes: Mapping[str, Any] | None = None,
    filters: Mapping[str, str | None] | None = None,
    snapshot: bool | None = None,
    on_hint: Callable[[str], object] | None = None,
) -> list[int]:
    """Queue copies of jobs, with changed options; with `rerun`, linked to the jobs they repeat.

    They run the snapshots of the jobs. With `snapshot` true, they run new ones of the directories of the jobs; with
    false, what is there when they start. `on_hint` is called with each remark about a new one.
    """
    changed = dict(changes) if changes else None
    body = {**selection(ids, filters or {}), "rerun": rerun, "entry": entry, "changes": changed}
    if snapshot:
        from tarmac.client.snapshots.copies import cloned  # loads what most copies do not need

        return cloned(client, body, on_hint)
    if snapshot is not None:
        body["snapshot"] = False
    copies: list[int] = client.change("/jobs/clone", body)["ids"]
    return copies


def label(
    client: Link, ids: Iterable[Id], filters: Mapping[str, str | None] | None = None, **labels: object
) -> list[int]:
    """Change names, tags and notes in any state: set_name="a", add_tags=["b"], remove_tags=["c"], set_note="d"."""
    body = {**selection(ids, filters or {}), **labels}
    labelled: list[int] = client.change("/jobs/label", body)["labelled"]
    return labelled
