"""The parts of a job on several nodes, as the API shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.job.job import PartView
from tarmac.api.wording.notes import ending_words
from tarmac.controller.log_paths import stdout_path
from tarmac.core.model.part import PartsProgress

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job
    from tarmac.core.model.part import PartEnd
    from tarmac.core.model.status import Booking


def part_views(controller: Controller, job: Job) -> list[PartView]:
    """Of the latest attempt. Empty for a job on one node, and before it has its nodes."""
    booking: Booking | None = getattr(job.status, "booking", None)
    if booking is None or not booking.others:
        return []
    return [_part(controller, job, booking, rank) for rank in range(len(booking.nodes))]


def _part(controller: Controller, job: Job, booking: Booking, rank: int) -> PartView:
    progress = booking.progress or PartsProgress()
    end = progress.end_of(rank)
    start = next((start for start in progress.starts if start.part == rank), None)
    return PartView(
        rank=rank,
        node=booking.nodes[rank],
        state=_state(progress, rank) if end is None else _end_state(end),
        pid=None if start is None else start.pid,
        exit_code=None if end is None else end.exit_code,
        signal=None if end is None else end.signal,
        message=None if end is None else ending_words(end.message),
        is_cause=progress.cause == rank,
        log_path=controller.nodes.path_on(
            booking.nodes[rank], stdout_path(controller.state_folder, job, job.attempt, rank)
        ),
    )


def _state(progress: PartsProgress, rank: int) -> str:
    if progress.has_started(rank):
        return "running"
    return "starting" if rank == 0 or progress.are_others_sent else "waiting"


def _end_state(end: PartEnd) -> str:
    match end.kind:
        case "exited":
            return "failed" if end.is_bad else "succeeded"
        case "launch_failed":
            return "failed"
        case "never":
            return "cancelled"
        case _:
            return "unknown"
