"""What `--fetch` asked for: copies files of ended jobs back from their nodes, one job per node at a time.

A job has ended, and its GPUs are free, before its files are copied. A copy that a cut interrupts goes on when the node
is back, and one that the end of the controller interrupts goes on with the next controller.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from tarmac.controller.fetch.copy import FileCopy
from tarmac.controller.fetch.record import FetchRecord, FetchRecords
from tarmac.controller.fetch.shared_directories import SharedDirectories
from tarmac.controller.fetch.target import Target
from tarmac.controller.snapshots.paths import checkout_cwd, object_file
from tarmac.core.model.ids import NodeName
from tarmac.core.model.status import is_ended
from tarmac.nodes.steady import NodeLeft, ask_steadily
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import BrokenSnapshot, walk
from tarmac.shared.snapshots.places import CHECKOUTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.controller import Controller
    from tarmac.controller.fetch.target import Original
    from tarmac.core.changes import Changes
    from tarmac.core.model.job import Job

log = logging.getLogger(__name__)


class Fetches:
    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._files = FetchRecords(controller.state_folder)
        self.shared = SharedDirectories(controller.fleet, controller.state_folder)
        self._records = self._files.load()
        self._turns: dict[str, asyncio.Lock] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self.shared.clean()
        controller.engine.after_attempts.append(self._attempts_ended)

    def of(self, job: int) -> FetchRecord | None:
        return self._records.get(job)

    def is_under_way(self, job: int) -> bool:
        """False while its node is away: nobody knows how long that takes."""
        return job in self._tasks

    def under_way_from(self, node: NodeName) -> list[int]:
        """The jobs whose files are being copied from the node."""
        return sorted(job for job in self._tasks if job in self._records and self._records[job].node == node)

    # When to fetch

    def prepare(self, job: Job, attempt: int, node: NodeName) -> None:
        """Before the start of an attempt. On this machine, only a job with a snapshot runs in another directory."""
        if not job.spec.fetch:
            return
        if job.spec.snapshot is None and not self._controller.fleet.is_elsewhere(node):
            self.forget(job.id)
            return
        self.forget(job.id)  # of an earlier attempt
        directory = checkout_cwd(self._controller.state_folder, job) or job.spec.cwd
        record = FetchRecord(
            job=job.id, attempt=attempt, node=node, directory=directory, target=job.spec.cwd, paths=list(job.spec.fetch)
        )
        self._files.store(record)
        self._records[job.id] = record

    def node_joined(self, node: NodeName) -> None:
        for record in list(self._records.values()):
            if record.node == node:
                self._begin_if_due(record)

    def forget(self, job: int) -> None:
        """The job was removed."""
        if self._records.pop(job, None) is not None:
            self._files.remove(job)
        if (task := self._tasks.pop(job, None)) is not None:
            task.cancel()

    def forget_removed(self) -> None:
        """Drop the records of jobs that were removed."""
        known = {job.id for job in self._controller.jobs(list(self._records))}
        for job in [number for number in self._records if number not in known]:
            self.forget(job)

    def end(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def _attempts_ended(self, changes: Changes) -> None:
        for attempt in changes.attempts:
            if (record := self._records.get(attempt.job)) is not None:
                self._begin_if_due(record)

    def _begin_if_due(self, record: FetchRecord) -> None:
        controller = self._controller
        if record.is_over or record.job in self._tasks or not controller.is_ended(record.job):
            return
        job = controller.job(record.job)
        if job is None or not is_ended(job.status):
            if job is None:
                self.forget(record.job)
            return
        if controller.fleet.is_connected(NodeName(record.node)):
            task = self._tasks[record.job] = asyncio.create_task(self._fetch(record, job))
            task.add_done_callback(lambda done: self._over(record.job, done))

    def _over(self, job: int, task: asyncio.Task[None]) -> None:
        if self._tasks.get(job) is task:  # a later attempt may have another
            del self._tasks[job]
        self._controller.publisher.wake_all()

    # How

    async def _fetch(self, record: FetchRecord, job: Job) -> None:
        async with self._turns.setdefault(record.node, asyncio.Lock()):
            try:
                await self._fetch_now(record, job)
            except NodeLeft:
                record.state = "waiting"
            except Exception:
                log.exception("job %s: its files cannot be copied from %s", record.job, record.node)
                record.state = "waiting"
            if self._records.get(record.job) is record:
                try:
                    await asyncio.to_thread(self._files.store, record)
                except OSError as error:  # the next controller looks again at what was copied
                    log.warning("job %s: what was copied is not noted: %s", record.job, error)

    async def _fetch_now(self, record: FetchRecord, job: Job) -> None:
        node = NodeName(record.node)
        if record.directory == record.target and await self.shared.is_shared(node, record.target):
            record.state = "shared"
            return
        record.state = "copying"
        record.begin_again()
        unchanged = await self._unchanged_code(record, job)
        await FileCopy(self._controller.fleet, record, lambda: self._files.store(record), unchanged).run()
        if record.part is not None:  # of a file that is gone, or that could not be written
            await asyncio.to_thread(Target(record.target, record.job).drop_part, record.part.path)
            record.part = None
        record.state = "partial" if record.problems else "done"

    async def _unchanged_code(self, record: FetchRecord, job: Job) -> Callable[[Original], bool]:
        """Recognizes files of the snapshot: a person may have edited the originals meanwhile."""
        snapshot = job.spec.snapshot
        if snapshot is None:
            return lambda _: False
        path = object_file(self._controller.state_folder)
        prefix = f"{snapshot.directory}/" if snapshot.directory else ""
        sizes: dict[str, int] = {}
        with suppress(BrokenSnapshot):
            sizes = await asyncio.to_thread(_sizes, path, snapshot.tree)
        stamp_ns = await self._stamp_ns(record)
        return lambda one: (
            sizes.get(prefix + one.path) == (0 if one.link is not None else one.size)
            and (one.link is not None or one.mtime_ns == stamp_ns)
        )

    async def _stamp_ns(self, record: FetchRecord) -> int | None:
        """The time that unchanged files of the checkout have."""
        directory = str(self._controller.state_folder / CHECKOUTS)
        frame = {"type": "list_checkouts", "directory": directory}
        answer = await ask_steadily(self._controller.fleet, NodeName(record.node), frame)  # type: ignore[arg-type]
        stamps = (one.get("stamp_ns") for one in answer["checkouts"] if one["job"] == record.job)
        return next(stamps, None)


def _sizes(path: str, tree: str) -> dict[str, int]:
    with closing(ObjectFile(path)) as objects:
        return {
            found.path.decode("utf-8", "surrogateescape"): found.entry.size
            for found in walk(objects.read, bytes.fromhex(tree))
        }
