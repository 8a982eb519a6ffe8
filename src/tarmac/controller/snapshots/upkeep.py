"""Removes what is no longer needed: unchanged files of old checkouts, checkouts of removed jobs, old snapshots, and
logs of removed jobs on other machines.

Once an hour, and a moment after jobs were removed.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import msgspec

from tarmac.controller.nodes.job_logs import sweep_logs
from tarmac.controller.snapshots.paths import checkout_directory, object_file
from tarmac.controller.start_frame import snapshot_entry
from tarmac.core.model.status import is_ended
from tarmac.refusal import Refused
from tarmac.shared.snapshots.places import CHECKOUTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.controller.controller import Controller
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.shared.frames.to_agent import PruneEntry, TidyCheckoutsFrame

log = logging.getLogger(__name__)

INTERVAL_S = 3600.0
DELAY_S = 2.0
AT_ONCE = 20  # checkouts in one request


class _Checkout(msgspec.Struct):
    job: int
    is_pruned: bool


class _Checkouts(msgspec.Struct):
    checkouts: list[_Checkout]


class SnapshotUpkeep:
    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self.look_within(INTERVAL_S)

    def look_soon(self) -> None:
        """Jobs were removed."""
        self.look_within(DELAY_S)

    def look_within(self, seconds: float) -> None:
        if self._task is not None and not self._task.done():
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(lambda _: self.look_within(INTERVAL_S))

    async def _run(self) -> None:
        """What one node cannot do now does not keep the others from it."""
        for what, tidy in (("snapshots", self.tidy), ("logs", lambda: sweep_logs(self._controller))):
            try:
                await tidy()
            except Refused as refused:
                log.warning("old %s are not removed: %s", what, refused)
            except Exception:
                log.exception("old %s are not removed", what)

    async def tidy(self) -> None:
        """Checkouts first: their unchanged files are recognized by their snapshot."""
        controller = self._controller
        controller.fetches.forget_removed()
        settings = controller.settings.in_force
        complete = await self._tidy_checkouts(controller.fleet.home.name, settings.checkout_keep_s)
        for session in list(controller.fleet):
            if session.is_elsewhere and session.is_connected:
                complete |= await self._tidy_node(session.name, settings.checkout_keep_s)
        live = trees_of(controller.state.jobs.values())
        removed = await controller.snapshots.remove_unused(
            live | complete, settings.snapshot_keep_s, settings.snapshot_keep_size
        )
        if removed:
            log.info("removed %d old snapshots", removed)

    async def _tidy_node(self, node: NodeName, keep_s: float) -> set[str]:
        """On another machine, the objects go with the last checkout that needs them: they can be sent again."""
        controller = self._controller
        try:
            async with controller.dispatcher.code.alone(node):
                complete = await self._tidy_checkouts(node, keep_s)
                trees = sorted(complete | trees_of(controller.state.jobs.values()))
                objects = object_file(controller.state_folder)
                await controller.fleet.ask(node, {"type": "keep_objects", "objects": objects, "trees": trees})
        except Refused as refused:
            log.warning("%s: old snapshots are not removed: %s", node, refused)
            return set()
        return complete

    async def _tidy_checkouts(self, node: NodeName, keep_s: float) -> set[str]:
        """Returns the trees whose checkouts are complete: they are needed to recognize unchanged files later."""
        controller = self._controller
        directory = str(controller.state_folder / CHECKOUTS)
        answer = await controller.fleet.ask(node, {"type": "list_checkouts", "directory": directory})
        found = {one.job: one.is_pruned for one in msgspec.convert(answer, _Checkouts).checkouts}
        jobs: dict[int, Job] = {job.id: job for job in controller.jobs(list(found))}
        removed = [checkout_directory(controller.state_folder, number) for number in found if number not in jobs]
        complete = [job for job in jobs.values() if not found[job.id]]
        due = controller.now() - keep_s
        old = [job for job in complete if is_ended(job.status) and (getattr(job.status, "ended_at", None) or 0) < due]
        await self._send(node, removed, [entry for job in old if (entry := self._prune_entry(job)) is not None])
        return trees_of(job for job in complete if job not in old)

    def _prune_entry(self, job: Job) -> PruneEntry | None:
        entry = snapshot_entry(job, self._controller.state_folder)
        return None if entry is None else {**entry, "attempt": job.attempt}

    async def _send(self, node: NodeName, removed: list[str], old: list[PruneEntry]) -> None:
        for start in range(0, max(len(removed), len(old)), AT_ONCE):
            frame: TidyCheckoutsFrame = {
                "type": "tidy_checkouts",
                "remove": removed[start : start + AT_ONCE],
                "prune": old[start : start + AT_ONCE],
            }
            await self._controller.fleet.ask(node, frame)


def trees_of(jobs: Iterable[Job]) -> set[str]:
    return {job.spec.snapshot.tree for job in jobs if job.spec.snapshot is not None}
