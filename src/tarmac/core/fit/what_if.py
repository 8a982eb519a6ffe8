"""A copy of a node without some of its jobs, to see what would fit then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.node import Node


def without(node: Node, jobs: Collection[JobId]) -> Node:
    if not jobs:
        return node
    gone = set(jobs)
    booked = {uuid: {job: gpu for job, gpu in held.items() if job not in gone} for uuid, held in node.booked.items()}
    return replace(
        node,
        booked={uuid: held for uuid, held in booked.items() if held},
        booked_parts={
            uuid: {(job, part) for job, part in parts if job not in gone} for uuid, parts in node.booked_parts.items()
        },
        host={job: request for job, request in node.host.items() if job not in gone},
    )
