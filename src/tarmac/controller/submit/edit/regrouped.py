"""Groups all of whose jobs got another command by an edit: lists show the new one."""

from __future__ import annotations

import shlex
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.controller.submit.request import LONGEST_TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job, JobSpec
    from tarmac.store.groups import Group, GroupReader


def regrouped(reader: GroupReader, jobs: Sequence[Job], specs: Mapping[JobId, JobSpec]) -> list[Group]:
    edited: dict[int, list[JobSpec]] = defaultdict(list)
    touched: set[int] = set()
    for job in jobs:
        if job.group is not None:
            spec = specs[job.id]
            edited[job.group].append(spec)
            if (spec.command, spec.shell) != (job.spec.command, job.spec.shell):
                touched.add(job.group)
    counts = reader.counts(touched) if touched else {}
    found = []
    for number in touched:
        commands = {spec.shell or shlex.join(spec.command or ()) for spec in edited[number]}
        group = reader.find(number)
        if group is None or len(commands) > 1 or len(edited[number]) < sum(counts.get(number, {}).values()):
            continue
        # The jobs of a batch differed in their commands.
        varies = "" if group.kind == "batch" else group.varies
        found.append(replace(group, command=commands.pop()[:LONGEST_TEMPLATE], varies=varies))
    return found
