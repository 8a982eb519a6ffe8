"""Copies the logs of ended jobs from a node that is about to be removed: afterwards they can be read here."""

from __future__ import annotations

import asyncio
import base64
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from tarmac.controller.log_paths import default_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.controller.controller import Controller
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Booking

PIECE = 1 << 20


async def fetch_logs(controller: Controller, node: NodeName) -> int:
    """Returns how many were copied. A log that is here already stays."""
    answer = await controller.fleet.ask(node, {"type": "list_logs"})
    copied = 0
    for job in controller.jobs([int(number) for number in answer["jobs"]]):
        for path in _logs_on(controller, job, node):
            copied += await _fetch(controller, node, path)
    return copied


def _logs_on(controller: Controller, job: Job, node: NodeName) -> Iterator[str]:
    """The logs that attempts have on the node. An attempt on several nodes has one for each part."""
    reader = controller.store.reader
    bookings: dict[int, Booking | None] = {one.attempt.number: one.attempt.booking for one in reader.attempts(job.id)}
    bookings[job.attempt] = getattr(job.status, "booking", None) or bookings.get(job.attempt)
    for attempt in range(1, job.attempt + 1):
        booking = bookings.get(attempt)
        first = reader.node_of_attempt(job.id, attempt)
        nodes = booking.nodes if booking is not None and booking.others else (first,)
        for part, name in enumerate(nodes):
            if name == node:
                yield default_log(controller.state_folder, job.id, attempt, part)


async def _fetch(controller: Controller, node: NodeName, path: str) -> bool:
    """Complete, or not at all: a part of a log would look like all of it."""
    fresh = f"{path}.fetched"
    offset = 0
    try:
        with open(fresh, "wb") as file:  # noqa: ASYNC230 - a file in the state directory
            while True:
                answer = await controller.fleet.ask(
                    node, {"type": "read_log", "path": path, "offset": offset, "limit": PIECE}
                )
                if answer.get("is_missing"):
                    return False
                if "error" in answer:
                    raise OSError(answer["error"])
                data = base64.b64decode(answer["data"])
                if not data:
                    break
                offset = max(offset, int(answer.get("offset", 0))) + len(data)
                await asyncio.to_thread(file.write, data)
        os.rename(fresh, path)
        return True
    finally:
        with suppress(FileNotFoundError):
            os.unlink(fresh)
