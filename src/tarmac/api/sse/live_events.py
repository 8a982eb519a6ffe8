"""How live events are formed: what each says, and a mark by which a change is noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tarmac.api.schemas.gpus.gpus import GpuView
from tarmac.api.schemas.gpus.nodes import NodeView
from tarmac.api.schemas.live import (
    EstimatesEvent,
    JobEstimate,
    JobProgress,
    LineEvent,
    NodesEvent,
    ProgressEvent,
    RemovedEvent,
)
from tarmac.api.sse.events import encoded
from tarmac.api.views.gpu import gpu_views
from tarmac.api.views.group import group_views
from tarmac.api.views.job import Viewer
from tarmac.api.views.node import node_views
from tarmac.controller.forecast_cache import lines_in_order
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.status import Queued
from tarmac.core.queue.queue import TIER_RANK
from tarmac.shared.units import runs, spans

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from tarmac.controller.controller import Controller
    from tarmac.core.lines import LineKey
    from tarmac.core.model.job import Job

Mark: TypeAlias = "tuple[Any, ...] | GpuView"

_TIERS = {rank: tier for tier, rank in TIER_RANK.items()}
_PASSING = frozenset({"elapsed_s", "stale_s"})  # they change with the time, which clients can count themselves
_MEMORY_STEP = 1 << 28  # smaller changes of a host's memory are not worth an event


def at_work(controller: Controller) -> list[Job]:
    return controller.state.booked_jobs()


def waiting(controller: Controller, number: int) -> Job | None:
    job = controller.state.jobs.get(JobId(number))
    return job if job is not None and isinstance(job.status, Queued) else None


# Progress

_PROGRESS = tuple(name for name in JobProgress.__struct_fields__ if name != "host_memory_bytes")


def progress_marks(controller: Controller, jobs: list[Job]) -> dict[object, Mark]:
    rows = Viewer(controller).fields(jobs, tuple(name for name in _PROGRESS if name not in _PASSING))
    return {row["id"]: (*row.values(), _host_memory(controller, row)) for row in rows}


def progress_event(controller: Controller, jobs: list[Job]) -> bytes:
    rows = Viewer(controller).fields(jobs, _PROGRESS)
    found = [JobProgress(**row, host_memory_bytes=_host_memory(controller, row)) for row in rows]
    return encoded("progress", ProgressEvent(jobs=found))


def _host_memory(controller: Controller, row: dict[str, Any]) -> int | None:
    return controller.job_memory.latest(row["id"], row["attempt"])


# The queue


def line_event(key: LineKey, ids: str) -> bytes:
    return encoded("line", LineEvent(owner=key.owner, tier=_TIERS[key.tier], ids=ids))


def line_events(controller: Controller) -> list[bytes]:
    return [line_event(key, runs(line)) for key, line in lines_in_order(controller.state).items()]


def estimates_event(controller: Controller, jobs: list[Job]) -> bytes:
    rows = Viewer(controller).fields(jobs, JobEstimate.__struct_fields__)
    return encoded("estimates", EstimatesEvent(jobs=[JobEstimate(**row) for row in rows]))


def group_events(controller: Controller, numbers: Iterable[int]) -> list[bytes]:
    reader = controller.store.reader.groups
    found = [group for number in sorted(numbers) if (group := reader.find(number)) is not None]
    return [encoded("group", view) for view in group_views(controller, found)]


def removed_event(jobs: Iterable[int]) -> bytes:
    return encoded("removed", RemovedEvent(ids=spans(jobs)))


# Nodes and GPUs


# Sentences about silence and times count up; what they count from is part of the mark.
_NODE_MARK = tuple(
    name
    for name in NodeView.__struct_fields__
    if name not in {"reason", "since", "connected_at", "memory_available_bytes"}
)


def nodes_mark(controller: Controller) -> Mark:
    known = [
        (
            *(getattr(view, name) for name in _NODE_MARK),
            view.since if view.state == "drained" else None,
            (view.memory_available_bytes or 0) // _MEMORY_STEP,
        )
        for view in node_views(controller)
    ]
    moments = [session.changed_at for session in controller.fleet]
    return (*known, *moments, *controller.readings.errors.items())


def nodes_event(controller: Controller) -> bytes:
    errors = [error for error in controller.readings.errors.values() if error]
    return encoded("nodes", NodesEvent(nodes=node_views(controller), error="; ".join(errors) or None))


def _gpus(controller: Controller, nodes: Iterable[str] | None) -> Iterator[GpuView]:
    for node in [None] if nodes is None else [NodeName(node) for node in nodes]:
        yield from gpu_views(controller, node=node)


def gpu_marks(controller: Controller, nodes: Iterable[str] | None) -> dict[object, Mark]:
    """Without what a reading says: readings have their own event."""
    return {view.uuid: _judged(view) for view in _gpus(controller, nodes)}


def _judged(view: GpuView) -> Mark:
    return (
        view.index, tuple(view.jobs), view.drained, view.drained_by, view.reason, view.slots, view.booked_bytes,
        view.held, view.warnings, view.stale_s is None, view.reserved,
        tuple((one.pid, one.job, one.ignored, one.holds_gpu) for one in view.processes),
    )  # fmt: skip


def gpu_events(controller: Controller, nodes: Iterable[str] | None, uuids: Container[object]) -> list[bytes]:
    return [encoded("gpu", view) for view in _gpus(controller, nodes) if view.uuid in uuids]
