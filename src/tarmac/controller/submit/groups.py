"""The group that a submit asks for: how many jobs it has, their indices, and what is stored about it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from tarmac.controller.submit.request import LONGEST_TEMPLATE
from tarmac.records import dataclass
from tarmac.refusal import invalid
from tarmac.shared.indices import parse_indices
from tarmac.store.groups import Group

MOST_VALUES = 6  # of a parameter that lists show
LONGEST_VARIES = 500

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.submit.request import GroupRequest, JobRequest, SubmitRequest
    from tarmac.core.model.job import JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """A group before its jobs have ids."""

    request: GroupRequest
    jobs: Sequence[JobRequest]
    indices: tuple[int, ...]  # of an array
    count: int

    @property
    def is_repeated(self) -> bool:
        """The one job of the request is queued once for each index."""
        return self.request.indices is not None

    @property
    def array_count(self) -> int | None:
        return self.count if self.request.kind == "array" else None

    def specs_of(self, checked: tuple[JobSpec, ...]) -> tuple[JobSpec, ...]:
        """One for each job. The jobs of an array share one, unless the owner chose their output files."""
        if not self.is_repeated:
            return checked
        (spec,) = checked
        return tuple(replace(spec) for _ in self.indices) if spec.outputs else checked * self.count

    def stored(self, first_id: int, owner: str, now: float) -> Group:
        request, job = self.request, self.jobs[0]
        command = request.command or job.shell or shlex.join(job.command or ())
        return Group(
            id=first_id,
            owner=owner,
            kind=request.kind,
            name=request.name,
            command=command[:LONGEST_TEMPLATE],
            varies=varies_of(request, self.jobs)[:LONGEST_VARIES],
            params=tuple(job.params),
            indices=request.indices,
            count=self.count,
            submitted_at=now,
        )


def varies_of(group: GroupRequest, jobs: Sequence[JobRequest]) -> str:
    """What differs between the jobs: their indices, the values of their parameters, or the ends of their commands."""
    if group.kind == "array":
        return f"[{group.indices or f'0-{len(jobs) - 1}'}]"
    if jobs[0].params:
        values = {name: dict.fromkeys(job.params.get(name, "") for job in jobs) for name in jobs[0].params}
        return " ".join(f"{name}={_some(list(found))}" for name, found in values.items() if len(found) > 1)
    commands = [(job.shell or "",) if job.command is None else job.command for job in jobs]
    first, last = min(commands), max(commands)  # what these two have in common, all have
    common = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return " | ".join(shlex.join(command[common:]) for command in commands[:MOST_VALUES])


def _some(values: list[str]) -> str:
    """Some of the values, from the first to the last."""
    shown = values if len(values) <= MOST_VALUES else [*values[: MOST_VALUES - 2], "…", values[-1]]
    return ",".join(value if value.isprintable() and " " not in value else shlex.quote(value) for value in shown)


def plan_group(submit: SubmitRequest) -> GroupPlan | None:
    """Refuses indices that cannot be read, or that do not suit the submit."""
    group, jobs = submit.group, submit.jobs
    if group is None:
        return None
    indices: tuple[int, ...] = ()
    if group.indices is not None:
        if group.kind != "array":
            raise invalid("group.indices_of_other", kind=group.kind)
        if len(jobs) != 1:
            raise invalid("group.indices_of_many", jobs=len(jobs))
        try:
            indices = tuple(chain.from_iterable(parse_indices(group.indices)))
        except ValueError as error:
            raise invalid("group.bad_indices", text=group.indices[:100], trouble=str(error)) from None
    elif group.kind == "array":
        indices = tuple(range(len(jobs)))
    return GroupPlan(request=group, jobs=jobs, indices=indices, count=len(indices) or len(jobs))
