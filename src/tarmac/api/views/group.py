"""Groups of jobs as people and programs see them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tarmac.api.schemas.groups import GroupView
from tarmac.api.wording.times import iso
from tarmac.core.model.ids import JobId
from tarmac.shared.names import ENDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.controller import Controller
    from tarmac.store.groups import Group


def group_views(controller: Controller, groups: Sequence[Group]) -> list[GroupView]:
    reader = controller.store.reader.groups
    counts, live = reader.counts(group.id for group in groups), reader.unknown_live()
    return [_view(controller, group, counts.get(group.id, {}), live[group.id]) for group in groups]


def _view(controller: Controller, group: Group, counts: dict[str, int], unknown_live: int) -> GroupView:
    return GroupView(
        id=group.id,
        kind=group.kind,
        name=group.name,
        owner=group.owner,
        command=group.command or _command(controller, group),
        varies=group.varies,
        params=list(group.params),
        indices=group.indices,
        count=group.count,
        last=group.span.stop - 1,
        counts=counts,
        ended=sum(counts.get(state, 0) for state in (*ENDED, "unknown")) - unknown_live,
        max_running=_max_running(controller, group),
        submitted_at=str(iso(group.submitted_at)),
    )


def _command(controller: Controller, group: Group) -> str:
    """The command of its first job, for an array that an older version stored."""
    job = controller.job(group.id)
    return "" if job is None else job.spec.shell or shlex.join(job.spec.command or ())


def _max_running(controller: Controller, group: Group) -> int | None:
    """The limit of one of its jobs: `edit` changes all waiting jobs alike."""
    number = controller.store.reader.groups.a_live_job(group)
    job = None if number is None else controller.state.jobs.get(JobId(number))
    return None if job is None else job.spec.max_running
