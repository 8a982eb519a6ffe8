"""Asks the nodes for the metrics of jobs. A node searches the logs; only what it found is sent."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from contextlib import closing
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tarmac.controller.log_paths import is_elsewhere, output_paths
from tarmac.controller.snapshots.paths import checkout_cwd
from tarmac.records import dataclass
from tarmac.refusal import Refused, invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.controller import Controller
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.shared.frames.base import SearchPlace
    from tarmac.shared.frames.to_agent import FindMetricsFrame, MetricFiles, MetricPattern
    from tarmac.store.store import Store

JOBS_PER_QUESTION = 200
MOST_SILENT = 3  # questions to a node that nobody answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    patterns: tuple[MetricPattern, ...] = ()
    json: str | None = None  # a file in the directory of each job
    keys: tuple[str, ...] = ()  # of that file; empty: all


@dataclass(slots=True)
class Found:
    values: dict[JobId, list[str | None]] = field(default_factory=dict)  # in the order of the patterns
    json: dict[JobId, dict[str, Any]] = field(default_factory=dict)
    unread: list[JobId] = field(default_factory=list)  # their node, or a file system, does not answer


async def find_metrics(controller: Controller, jobs: Sequence[Job], wanted: Wanted) -> Found:
    """Find the metrics of all jobs that have started."""
    found = Found()
    of_node: dict[NodeName, list[Job]] = defaultdict(list)
    nodes = await _nodes(controller, jobs)
    for job in jobs:
        if job.id in nodes and not is_elsewhere(job):
            of_node[nodes[job.id]].append(job)
    await asyncio.gather(*(_ask(controller, node, some, wanted, found) for node, some in of_node.items()))
    return found


async def _nodes(controller: Controller, jobs: Sequence[Job]) -> dict[int, NodeName]:
    """Where jobs run or ran. Read in a thread: a sweep may have many jobs."""
    nodes: dict[int, NodeName] = {}
    ended: dict[int, int] = {}
    for job in jobs:
        booking = getattr(job.status, "booking", None)
        if job.attempt and booking is not None:
            nodes[job.id] = booking.node
        elif job.attempt:
            ended[job.id] = job.attempt
    if ended:
        nodes |= await asyncio.to_thread(_stored_nodes, controller.store, ended)
    return nodes


def _stored_nodes(store: Store, attempts: dict[int, int]) -> dict[int, NodeName]:
    with closing(store.snapshot()) as reader:
        return reader.nodes_of_attempts(attempts)


async def _ask(controller: Controller, node: NodeName, jobs: list[Job], wanted: Wanted, found: Found) -> None:
    silent, at = 0, 0
    place: SearchPlace | None = None
    while at < len(jobs) and silent < MOST_SILENT:
        some = jobs[at : at + JOBS_PER_QUESTION]
        question: FindMetricsFrame = {
            "type": "find_metrics",
            "patterns": list(wanted.patterns),
            "keys": list(wanted.keys),
            "files": [_files(controller, job, wanted) for job in some],
            "place": place,
        }
        try:
            answer = await controller.fleet.ask(node, question)
        except Refused:
            break
        if answer.get("is_too_slow"):
            raise invalid("results.slow_pattern")
        for job, one in zip(some, answer["found"], strict=False):
            found.values[job.id], found.json[job.id] = one["values"], one["json"]
        at += len(answer["found"])
        place = answer["place"]
        if not answer["found"] and place is None:
            silent, at = silent + 1, at + 1
            found.unread.append(some[0].id)
    found.unread += [job.id for job in jobs[at:]]


def _directory(controller: Controller, job: Job) -> str:
    return checkout_cwd(controller.state_folder, job) or job.spec.cwd


def _files(controller: Controller, job: Job, wanted: Wanted) -> MetricFiles:
    paths = output_paths(controller.state_folder, job, max(job.attempt, 1)) if wanted.patterns else []
    file = None if wanted.json is None else os.path.join(_directory(controller, job), wanted.json)
    return {"paths": paths, "json": file}
