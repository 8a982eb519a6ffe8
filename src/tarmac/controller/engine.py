"""Decide, commit, carry out: the only place where the three meet, and the only caller of `handle`.

One commit is under way at a time; what happens meanwhile is decided together and shares the next one. Memory is
therefore ahead of the disk by one commit at most, and nothing leaves this process before its commit returned.
When a commit fails, memory is thrown away and read again, as after a crash: there is one way of recovering.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tarmac.controller.dispatcher import Hands
from tarmac.controller.forecast_cache import OutlookBoard
from tarmac.controller.gpus.readings import GpuBoard
from tarmac.controller.progress.board import ProgressBoard
from tarmac.controller.publisher import JobChanged, Publisher, QueueChanged
from tarmac.controller.submit.dependencies import with_outcomes
from tarmac.core.commands import SignalJob
from tarmac.core.events import JobEdited, JobsSubmitted, NodeJoined, Reported, RulesSet, TimePassed
from tarmac.core.forecast.wakeups import next_due
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.status import holds_booking, is_ended
from tarmac.errors import TarmacError, Unavailable
from tarmac.refusal import Refused, unavailable
from tarmac.shared import crashpoint
from tarmac.store.writer import Batch, Sample, Submission

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tarmac.controller.settings.settings import Settings
    from tarmac.core.commands import Command
    from tarmac.core.events import Event
    from tarmac.core.state import State
    from tarmac.nodes.fleet import Fleet
    from tarmac.store.store import Store

log = logging.getLogger(__name__)

RETRY_AFTER_FULL_S = 1.0
SOONEST_S, LATEST_S = 0.02, 300.0  # a clock that was set, or stood still with the machine, is noticed after the last

Done: TypeAlias = "asyncio.Future[None]"
Token: TypeAlias = tuple[str, str]  # owner, and what the owner's client made up for one submit
Plan: TypeAlias = "Callable[[State], list[Event]]"


@dataclass(slots=True, kw_only=True)
class PendingCommit:
    """Events that are to be kept together, and whoever waits for that.

    With a `plan` they are worked out when their turn comes, from the newest state; it may raise Refused.
    """

    events: list[Event] = field(default_factory=list)
    plan: Plan | None = None
    refused: Refused | TarmacError | None = None
    environments: dict[str, bytes] = field(default_factory=dict)
    token: Token | None = None
    ids: range = range(0)  # of the jobs submitted by it
    removed: list[JobId] = field(default_factory=list)
    settings: dict[str, str | None] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    samples_from: int | None = None  # what is older goes
    done: Done | None = None


class Engine:
    def __init__(
        self,
        *,
        store: Store,
        settings: Settings,
        state_folder: Path,
        publisher: Publisher,
        fleet: Fleet,
        clock: Callable[[], float],
    ) -> None:
        self.store = store
        self.settings = settings
        self.state_folder = state_folder
        self.publisher = publisher
        self.fleet = fleet
        self._clock = clock
        self.state = self._loaded()
        self.state.next_id = max(self.state.next_id, highest_trace(state_folder) + 1)
        self.last_event = store.reader.last_event()
        self.degraded: str | None = None  # why nothing can be written at the moment
        self.is_ending = False
        self.progress = ProgressBoard(self)
        self.board = GpuBoard(self)
        self.outlook = OutlookBoard(self)
        self._began_at = clock()
        self._inbox: list[PendingCommit] = []
        self._under_way: dict[JobId, Job] = {}  # changed by the commit that has not returned yet
        self._submitting: dict[Token, PendingCommit] = {}
        self._is_committing = False
        self._timer: asyncio.TimerHandle | None = None
        self.generation = 0  # counts decisions: whoever remembers something of the state knows whether it is old
        self._hands = Hands(self)
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake_when_due()

    def now(self) -> float:
        return self._clock()

    def uptime_s(self) -> float:
        return self._clock() - self._began_at

    def call_later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(seconds, call)

    def is_ended(self, job: int) -> bool:
        """And that is on disk: whoever is told may rely on it."""
        return job not in self.state.jobs and job not in self._under_way

    def jobs(self, numbers: list[int]) -> list[Job]:
        """Those that exist, in the order asked for: live ones from memory, the others from the store."""
        live = {number: job for number in numbers if (job := self._live(number)) is not None}
        stored = self.store.reader.jobs([number for number in numbers if number not in live])
        return [job for number in numbers if (job := live.get(number) or stored.get(number)) is not None]

    def job(self, number: int) -> Job | None:
        return self._live(number) or self.store.reader.job(number)

    def _live(self, number: int) -> Job | None:
        return self.state.jobs.get(JobId(number)) or self._under_way.get(JobId(number))

    def end(self) -> None:
        """Streams and long requests notice and finish; nothing is accepted any more."""
        self.is_ending = True
        self.publisher.wake_all()

    # in

    def post(self, event: Event) -> None:
        """A report from a node. Lost ones come again, so nobody waits for it."""
        if self.degraded is None:
            self._inbox.append(PendingCommit(events=[event]))
            self._turn()

    async def commit(self, work: PendingCommit) -> None:
        """Returns once the events are on disk; raises when they were not accepted."""
        # Whoever asked may go away; what was begun is finished all the same.
        await asyncio.shield(self._begin(work))

    def _begin(self, work: PendingCommit) -> Done:
        if self.degraded is not None:
            raise unavailable("server.cannot_write", problem=self.degraded)
        work.done = self._loop.create_future()
        self._inbox.append(work)
        self._turn()
        return work.done

    async def submit(
        self,
        event: JobsSubmitted,
        environments: dict[str, bytes],
        token: Token | None,
        check: Callable[[State], None] | None = None,
    ) -> range:
        """The ids, once the jobs are on disk. The same token again gives the same ids. `check` may refuse."""
        if token is not None:
            if (known := self.store.reader.submission(*token)) is not None:
                return known
            if (under_way := self._submitting.get(token)) is not None:
                assert under_way.done is not None
                await asyncio.shield(under_way.done)
                return under_way.ids

        def plan(state: State) -> list[Event]:
            if check is not None:
                check(state)
            return [event]

        work = PendingCommit(plan=plan, environments=environments, token=token)
        kept = self._begin(work)
        if token is not None:
            self._submitting[token] = work
            kept.add_done_callback(lambda _: self._submitting.pop(token))
        await asyncio.shield(kept)
        return work.ids

    async def set(self, name: str, text: str | None) -> None:
        """In force at once and kept; None takes it back to the config file or the default."""
        changed = self.settings.changed(name, text)
        await self.commit(PendingCommit(events=[RulesSet(rules=changed.rules())], settings={name: text}))
        self.settings = changed
        self.board.refresh()

    def keep_samples(self, samples: list[Sample], so_far: dict[str, str | None], since: int | None = None) -> None:
        if self.degraded is None:
            self._inbox.append(PendingCommit(events=[], samples=samples, settings=so_far, samples_from=since))
            self._turn()

    async def keep_usage(self) -> None:
        """Before the end; where nothing can be written, what was kept a minute ago has to do."""
        self.board.settle()
        with suppress(Unavailable, Refused):
            await self.commit(PendingCommit(events=[], settings=self.board.so_far()))

    def signal_now(self, job: JobId, grace_s: float | None) -> bool:
        """Without a record of it, for when nothing can be written: what fills the disk must be stoppable."""
        live = self.state.jobs.get(job)
        booking = None if live is None else holds_booking(live.status)
        if live is None or booking is None:
            return False
        grace_s = live.spec.grace_s if grace_s is None else grace_s
        command = SignalJob(node=booking.node, job=job, attempt=live.attempt, grace_s=grace_s, signal=live.spec.signal)
        self._hands.carry_out([command])
        return True

    # decide and commit

    def _turn(self) -> None:
        if self._is_committing or not self._inbox:
            return
        works, self._inbox = self._inbox, []
        try:
            batch, commands = self._decide(works)
        except Exception as error:
            log.exception("a decision failed; its events: %.2000r", [event for work in works for event in work.events])
            self._fail(error, works)
            return
        if batch:
            self._commit(batch, commands, works)
        else:
            self._carry_out(commands, works)
            _resolve(works, None)
            self._wake_when_due()

    def _carry_out(self, commands: list[Command], works: list[PendingCommit]) -> None:
        for event in (event for work in works for event in work.events):
            if isinstance(event, NodeJoined):
                self.fleet.admit(event.node)
        self._hands.carry_out(commands)

    def _decide(self, works: list[PendingCommit]) -> tuple[Batch, list[Command]]:
        now = self._clock()
        if any(isinstance(event, Reported | NodeJoined) for work in works for event in work.events):
            self.board.settle()
        self.generation += 1
        commands: list[Command] = []
        batch = Batch(changes=self.state.changes)
        for work in works:
            first = self.state.next_id
            if work.plan is not None:
                try:
                    work.events = work.plan(self.state)
                except (Refused, TarmacError) as error:
                    work.refused = error
                    continue
            for event in work.events:
                commands += handle(self.state, self._with_outcomes(event), now)
            work.ids = range(first, self.state.next_id)
            batch.environments |= work.environments
            batch.removed += work.removed
            batch.settings |= work.settings
            batch.samples += work.samples
            batch.samples_from = work.samples_from or batch.samples_from
            if work.token is not None:
                owner, token = work.token
                batch.submissions.append(
                    Submission(owner=owner, token=token, first_id=first, count=len(work.ids), at=now)
                )
        self.state.take_changes()
        batch.usage = self.board.took([job for job in batch.changes.changed.values() if is_ended(job.status)])
        return batch, commands

    def _with_outcomes(self, event: Event) -> Event:
        """A job that another is to wait for may have ended by now, even in this very batch."""
        if isinstance(event, JobsSubmitted | JobEdited):
            return with_outcomes(event, self.state, self.store.reader)
        return event

    def _commit(self, batch: Batch, commands: list[Command], works: list[PendingCommit]) -> None:
        def back_in_the_loop(error: Exception | None) -> None:
            self._is_committing = False
            self._under_way = {}
            if error is None:
                self._committed(batch, commands, works)
            else:
                self._fail(error, works)
            self._turn()

        self._is_committing = True
        self._under_way = dict(batch.changes.changed)
        self.store.commit(batch, lambda error: self._loop.call_soon_threadsafe(back_in_the_loop, error))

    def _committed(self, batch: Batch, commands: list[Command], works: list[PendingCommit]) -> None:
        self.board.kept(batch.usage)
        self._carry_out(commands, works)
        crashpoint.reach("controller:before-answer")
        _resolve(works, None)
        changes = batch.changes
        changed: dict[JobId, Job] = {job.id: job for job in changes.new} | changes.changed
        self.last_event += len(changes.new) + len(changes.story)
        self.publisher.tell(JobChanged(job, self.last_event) for job in changed)
        if changes.mode is not None:
            self.publisher.tell([QueueChanged()])
        self.board.tick_later()
        self._wake_when_due()

    # what waits for time alone

    def _wake_when_due(self) -> None:
        """One timer, for whatever comes first."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = self._clock()
        due = next_due(self.state, now)
        if due is not None and self.degraded is None:
            self._timer = self.call_later(min(max(due - now, SOONEST_S), LATEST_S), self._time_passed)

    def _time_passed(self) -> None:
        self._timer = None
        self.post(TimePassed())

    # when the disk says no

    def _fail(self, error: Exception, works: list[PendingCommit]) -> None:
        log.error("commit failed: %s", error)
        waiting, self._inbox = self._inbox, []
        _resolve([*works, *waiting], error)
        self._forget_memory()
        if self.degraded is None:
            self.degraded = str(error.args[0] if error.args else error)
            task = self._loop.create_task(self._recover())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _forget_memory(self) -> None:
        """Back to what is on disk. The node is asked anew what really runs once writing works again."""
        known = self.state.nodes
        self.state = self._loaded()
        self.generation += 1
        for name, node in known.items():
            mine = self.state.node(name)
            mine.gpus, mine.has_told_gpus = node.gpus, node.has_told_gpus
            mine.cpu_job_slots, mine.is_connected = node.cpu_job_slots, False
            self.state.touch(mine)

    def _loaded(self) -> State:
        now = self._clock()
        state = self.store.load(now)
        state.rules = self.settings.rules()
        self.store.load_past(state, now)
        return state

    async def _recover(self) -> None:
        while True:
            await asyncio.sleep(RETRY_AFTER_FULL_S)
            if await self._can_write():
                break
        log.info("the state can be written again")
        self.degraded = None
        self.board.forget_posted()
        self._wake_when_due()
        self.fleet.disconnect()

    async def _can_write(self) -> bool:
        outcome: asyncio.Future[Exception | None] = self._loop.create_future()
        self.store.try_to_write(lambda error: self._loop.call_soon_threadsafe(outcome.set_result, error))
        return await outcome is None


def highest_trace(state_folder: Path) -> int:
    """The highest id that a log or a run folder speaks of: what a database that was moved away gave out is taken."""
    names = [path.name for folder in ("logs", "agent/runs") for path in (state_folder / folder).glob("*.*")]
    return max((int(name) for name in (name.partition(".")[0] for name in names) if name.isdecimal()), default=0)


def _resolve(works: list[PendingCommit], error: Exception | None) -> None:
    for work in works:
        if work.done is None or work.done.done():
            continue
        if (said := error or work.refused) is None:
            work.done.set_result(None)
        else:
            work.done.set_exception(said)
