"""The logs of jobs on nodes over SSH: they stay there, and are removed there after their jobs were removed here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from tarmac.core.model.ids import NodeName
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller

AT_ONCE = 10_000  # jobs in one request


class _Listed(msgspec.Struct):
    jobs: list[int]


async def sweep_logs(controller: Controller) -> None:
    """Remove the logs of removed jobs. A node that is away now is swept the next time."""
    for name in list(controller.nodes.entries):
        node = NodeName(name)
        if not controller.fleet.is_connected(node):
            continue
        try:
            listed = msgspec.convert(await controller.fleet.ask(node, {"type": "list_logs"}), _Listed)
            gone = sorted(await asyncio.to_thread(controller.cleaner.removed_among, listed.jobs))
            for start in range(0, len(gone), AT_ONCE):
                await controller.fleet.ask(node, {"type": "remove_logs", "jobs": gone[start : start + AT_ONCE]})
        except (Refused, msgspec.ValidationError):
            continue  # it left meanwhile, or its agent is older
