"""Copies of the jobs of a group are a group as well: of the same kind, with the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.requests.selectors import group_named
from tarmac.controller.submit.groups import GroupPlan
from tarmac.controller.submit.request import GroupRequest, JobRequest
from tarmac.shared.units import spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.api.deps import Context
    from tarmac.api.schemas.job.selection import CloneRequest
    from tarmac.core.model.job import Job, JobSpec
    from tarmac.store.groups import Group


def original_group(context: Context, body: CloneRequest) -> Group | None:
    """The group whose jobs are copied, if they are selected by it."""
    if body.group is None:
        return None
    return group_named(context.controller.store.reader, context.caller.name, body.group)


def planned_copy(group: Group, body: CloneRequest, originals: Sequence[Job], specs: Sequence[JobSpec]) -> GroupPlan:
    changes = body.changes
    has_command = changes is not None and bool(changes.command or changes.shell)
    new_name = changes.name if changes is not None and isinstance(changes.name, str) else None
    indices = [job.index for job in originals if job.index is not None]
    request = GroupRequest(
        kind=group.kind,
        name=new_name or group.name,
        command=None if has_command else group.command,
        indices=spans(indices) if group.kind == "array" else None,
    )
    jobs = [JobRequest(command=spec.command, shell=spec.shell, params=dict(spec.params)) for spec in specs]
    return GroupPlan(request=request, jobs=jobs, indices=(), count=len(jobs))
