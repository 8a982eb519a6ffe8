"""What changes without a commit, once a second for all streams that want it: progress, places, groups, nodes, GPUs.

It runs only while such a stream is open. Each part compares what it finds with what was last sent, so that nothing is
sent twice; parts that are expensive on a long queue rest for a multiple of the time they took.
"""

from __future__ import annotations

import asyncio
import logging
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from tarmac.api.sse import live_events
from tarmac.api.sse.backlog import Entry
from tarmac.api.wording.catalogue.dialect import use
from tarmac.controller.forecast_cache import lines_in_order
from tarmac.shared.units import runs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping

    from tarmac.api.sse.live_events import Mark
    from tarmac.api.wording.catalogue.dialect import Dialect
    from tarmac.controller.controller import Controller
    from tarmac.core.lines import LineKey
    from tarmac.core.model.job import Job

log = logging.getLogger(__name__)

ROUND_S = 1.0
MOST_LOGS = 40  # that are read in one round
EVERY_GPU_S = 5.0  # drains, reservations and warnings also end without a reading
LIVENESS_S = 5.0
RESTS_FACTOR = 20  # times what a part took


class Rest:
    """When an expensive part may run again."""

    def __init__(self) -> None:
        self._until = 0.0

    def is_over(self) -> bool:
        return monotonic() >= self._until

    def after(self, work: Callable[[], None]) -> None:
        began = thread_time()
        work()
        self._until = monotonic() + RESTS_FACTOR * (thread_time() - began)


class LiveFeed:
    """`note` and `note_group` are for the broadcast, which sees every change of a job.

    `dialects` returns those of all streams that are open: none of them may lack a text. `one_round` is held while a
    round is formed and sent.
    """

    def __init__(
        self,
        controller: Controller,
        dialects: Callable[[], list[Dialect]],
        send: Callable[[list[Entry]], Awaitable[None]],
        one_round: asyncio.Lock,
    ) -> None:
        self._groups: set[int] = set()  # whose jobs changed
        self._nodes: set[str] = set()  # whose GPUs were read
        self._is_queue_changed = False
        self._dialects = dialects
        self._controller = controller
        self._send = send
        self._one_round = one_round
        # What was last sent, by the kind of the event and what it is about.
        self._marks: dict[tuple[str, object], Mark] = {}
        self._lines: dict[LineKey, str] = {}
        self._estimates: dict[int, int] = {}
        self._read_at: dict[int, float] = {}  # when the log of each running job was last read
        self._line_rest, self._estimate_rest = Rest(), Rest()
        self._gpus_at = self._liveness_at = 0.0
        self._know_lines()
        self._task = asyncio.get_running_loop().create_task(self._run())

    def note(self, nodes: Iterable[str], jobs: Collection[int]) -> None:
        """These nodes and jobs have changed."""
        self._nodes.update(nodes)
        self._is_queue_changed = self._is_queue_changed or bool(jobs)

    def note_group(self, group: int) -> None:
        """A job of this group has changed."""
        self._groups.add(group)

    def end(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        while True:
            began = monotonic()
            try:
                await self._round()
            except Exception:
                log.exception("live events cannot be formed")
            await asyncio.sleep(max(0.1, ROUND_S - (monotonic() - began)))

    async def _round(self) -> None:
        controller, at_work = self._controller, live_events.at_work(self._controller)
        if monotonic() - self._liveness_at >= LIVENESS_S:
            self._liveness_at = monotonic()
            await controller.fleet.check_liveness()
        await controller.progress.refresh(self._unread(at_work))
        async with self._one_round:
            entries = [*self._progress(), *self.line_entries(self._dialects()), *self._estimate_entries()]
            entries += [*self._group_entries(), *self._node_entries(), *self._gpu_entries()]
            if entries:
                await self._send(entries)

    def _unread(self, jobs: list[Job]) -> list[Job]:
        """Those whose logs were read longest ago."""
        at = monotonic()
        self._read_at = {job.id: self._read_at.get(job.id, 0.0) for job in jobs}
        some = sorted(jobs, key=lambda job: self._read_at[job.id])[:MOST_LOGS]
        self._read_at.update((job.id, at) for job in some)
        return some

    # The parts of a round

    def _progress(self) -> Iterator[Entry]:
        jobs = live_events.at_work(self._controller)  # some may have ended while logs were read
        marks = live_events.progress_marks(self._controller, jobs)
        changed = self._changed("progress", marks)
        self._forget("progress", marks)
        if changed:
            some = [job for job in jobs if job.id in changed]
            yield from self._entries(lambda: [live_events.progress_event(self._controller, some)])

    def _know_lines(self) -> None:
        self._lines = {key: runs(line) for key, line in lines_in_order(self._controller.state).items()}

    def line_entries(self, dialects: list[Dialect]) -> list[Entry]:
        """Also part of the rounds in which jobs change: a user who moves a job sees the new order at once."""
        if not self._is_queue_changed or not self._line_rest.is_over():
            return []
        self._is_queue_changed = False
        before = self._lines
        self._line_rest.after(self._know_lines)
        changed = [(key, text) for key, text in self._lines.items() if before.get(key) != text]
        texts = [live_events.line_event(key, text) for key, text in changed]
        return [Entry(None, dict.fromkeys(dialects, text), is_live=True) for text in texts]

    def _estimate_entries(self) -> Iterator[Entry]:
        if not self._estimate_rest.is_over():
            return
        changed: list[int] = []

        def look() -> None:
            nonlocal changed
            found = {
                int(job): int(one.start_at) // 60 for job, one in self._controller.forecast.now().estimates.items()
            }
            changed = [job for job in {**self._estimates, **found} if self._estimates.get(job) != found.get(job)]
            self._estimates = found

        self._estimate_rest.after(look)
        waiting = [job for number in changed if (job := live_events.waiting(self._controller, number)) is not None]
        if waiting:
            yield from self._entries(lambda: [live_events.estimates_event(self._controller, waiting)])

    def _group_entries(self) -> list[Entry]:
        changed, self._groups = self._groups, set()
        texts = live_events.group_events(self._controller, changed)
        return self._entries(lambda: texts)

    def _node_entries(self) -> Iterator[Entry]:
        if self._changed("nodes", {"all": live_events.nodes_mark(self._controller)}):
            yield from self._entries(lambda: [live_events.nodes_event(self._controller)])

    def _gpu_entries(self) -> Iterator[Entry]:
        """GPUs that differ from what the last event about them said: decisions follow readings."""
        is_due = monotonic() - self._gpus_at >= EVERY_GPU_S
        if is_due:
            self._gpus_at = monotonic()
        nodes = None if is_due else self._nodes
        self._nodes = set()
        changed = self._changed("gpu", live_events.gpu_marks(self._controller, nodes))
        if changed:
            yield from self._entries(lambda: live_events.gpu_events(self._controller, nodes, changed))

    # What was sent

    def _changed(self, kind: str, marks: Mapping[object, Mark]) -> set[object]:
        changed = {about for about, mark in marks.items() if self._marks.get((kind, about)) != mark}
        self._marks.update(((kind, about), marks[about]) for about in changed)
        return changed

    def _forget(self, kind: str, marks: Mapping[object, Mark]) -> None:
        gone = [key for key in self._marks if key[0] == kind and key[1] not in marks]
        for key in gone:
            del self._marks[key]

    def _entries(self, texts: Callable[[], list[bytes]]) -> list[Entry]:
        """The events in each dialect that is in use."""
        found: list[list[bytes]] = []
        dialects = self._dialects()
        for dialect in dialects:
            use(dialect)
            found.append(texts())
        return [Entry(None, dict(zip(dialects, same, strict=True)), is_live=True) for same in zip(*found, strict=True)]
