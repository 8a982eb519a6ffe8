"""Decide, commit, carry out: the only place where the three meet, and the only caller of `handle`.

One commit is under way at a time; plans that arrive meanwhile are decided together and share the next one. Memory is
therefore ahead of the disk by one commit at most, and nothing leaves this process before its commit returned.
When a commit fails, the engine discards its memory and reads it again, as after a crash: there is one way to recover.
"""

from __future__ import annotations

import asyncio
import logging
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from tarmac.controller.accounts.rollup import add_accounts
from tarmac.controller.engine.completion import add_stored_story, completed
from tarmac.controller.engine.decision import Decision, Pending, Plan, PlanOutdated, T, Turn, resolve
from tarmac.controller.engine.recovery import can_write, load_again, load_state, restore
from tarmac.controller.engine.settling import Settling
from tarmac.controller.engine.unknown_runs import SkippedIds
from tarmac.controller.engine.unrecorded_stops import UnrecordedStops
from tarmac.controller.engine.wall_clock import ClockSteps, WallTimer
from tarmac.core.events import NodeJoined, TimePassed
from tarmac.core.forecast.wakeups import next_due
from tarmac.core.handlers.clock import set_clock
from tarmac.core.machine import handle
from tarmac.refusal import Refused, unavailable
from tarmac.shared import crashpoint
from tarmac.store.batch import Batch
from tarmac.store.database.files import FilesRemoved
from tarmac.store.history.restored import SKIPPED_IDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.dispatcher import Dispatcher
    from tarmac.controller.gpus.usage import UsageBook
    from tarmac.controller.notify.notifications import Notifications
    from tarmac.controller.publisher import Publisher
    from tarmac.controller.settings.settings import Settings
    from tarmac.core.changes import Changes
    from tarmac.core.events import Event
    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.state import State
    from tarmac.store.store import Store

log = logging.getLogger(__name__)

RETRY_AFTER_FULL_S = 1.0
SOONEST_S = 0.02
FAR_S = 366 * 86400.0  # nothing is due; the timer is set only to notice that the clock is set


class Engine:
    def __init__(
        self,
        *,
        store: Store,
        settings: Settings,
        dispatcher: Dispatcher,
        publisher: Publisher,
        usage: UsageBook,
        clock: Callable[[], float],
        notify: Notifications | None = None,
        first_id: int = 1,  # lower ids are not given to new jobs
    ) -> None:
        self.settings = settings
        self.degraded: Refused | None = None  # why nothing can be written at the moment
        self._degraded_at = 0.0  # since when, on the monotonic clock
        self.unrecorded = UnrecordedStops()
        self._must_reload = False  # the memory is ahead of the disk, which could not be read
        self.generation = 0  # counts decisions, so that caches of the state know whether they are old
        self.under_way: dict[JobId, Job] = {}  # jobs changed by the commit that has not returned yet
        self.removing: set[JobId] = set()  # removed by plans of this turn; the store still has them
        self.after_commit: list[Callable[[], None]] = []
        self.after_attempts: list[Callable[[Changes], None]] = []  # called if attempts ended
        self.after_recovery: list[Callable[[], None]] = []
        self._store = store
        self._dispatcher = dispatcher
        self._publisher = publisher
        self._usage = usage
        self._notify = notify
        self._clock = clock
        self._first_id = first_id
        self.skipped = SkippedIds(store.reader.settings().get(SKIPPED_IDS))
        self.state = self._load()
        self._inbox: list[Pending] = []
        self._undo: list[Callable[[], None]] = []  # takes back what was installed since the last commit
        self._is_committing = False
        self._steps = ClockSteps(clock)
        self._timer = WallTimer(self._pass_time)
        self._timer_is_for: float | None = None  # the moment it is set to; inf: nothing is due
        self._loop = asyncio.get_running_loop()
        self._recovery: asyncio.Task[None] | None = None
        self._record_skipped_ids()
        self._wake_when_due()

    def now(self) -> float:
        self._follow_clock()
        return self._clock()

    @property
    def is_at_rest(self) -> bool:
        """True if the state in memory is the one on disk, and no commit is under way."""
        return not self._is_committing and self.degraded is None

    @property
    def degraded_s(self) -> float | None:
        """For how long nothing could be written."""
        return None if self.degraded is None else monotonic() - self._degraded_at

    # In

    async def decide(self, plan: Plan[T]) -> T:
        """The plan's answer, once its decision is on disk. Raises when the plan refused or the commit failed."""
        # The caller may go away; the decision is committed all the same.
        return await asyncio.shield(self.begin(plan))

    async def commit(self, *events: Event) -> None:
        """Decide on events that do not depend on the state."""
        await self.decide(lambda _: Decision(answer=None, events=events))

    def begin(self, plan: Plan[T]) -> asyncio.Future[T]:
        """As `decide`, for a caller that shares the result."""
        if self.degraded is not None:
            raise unavailable("server.cannot_write", problem=self.degraded)
        done: asyncio.Future[T] = self._loop.create_future()
        self._inbox.append(Pending(plan, done))
        self._take_turn()
        return done

    def post(self, event: Event) -> None:
        """Decide on an event without a waiting caller, such as a node's report: a lost report is sent again."""
        self.put(Decision(answer=None, events=(event,)))

    def put(self, decision: Decision[None]) -> None:
        """Commit without waiting. Dropped while nothing can be written."""
        self.put_plan(lambda _: decision)

    def put_plan(self, plan: Plan[None]) -> None:
        """As `put`, for a plan: it decides when its turn comes."""
        if self.degraded is None:
            self._inbox.append(Pending(plan))
            self._take_turn()

    def install(self, settings: Settings) -> Callable[[], None]:
        """Put settings in force, as a part of a decision. Returns what takes them back."""
        before, self.settings = self.settings, settings

        def undo() -> None:
            self.settings = before

        return undo

    # Decide

    def _take_turn(self) -> None:
        if self._is_committing or not self._inbox:
            return
        pending, self._inbox = self._inbox, []
        try:
            turn = self._decide(pending)
        except Exception as error:
            add_stored_story(error, self._store.reader)
            events = [event for one in pending if one.decision is not None for event in one.decision.events]
            log.exception("a decision failed; its events: %.2000r", events)
            self._fail(error, pending)
            return
        finally:
            self.removing.clear()
        if turn.batch:
            self._commit(turn)
        else:
            self._undo.clear()
            self._carry_out(turn)
            resolve(pending, None)
            self._wake_when_due()

    def _decide(self, pending: list[Pending]) -> Turn:
        self._follow_clock()
        now = self._clock()
        self.generation += 1
        turn = Turn(pending, Batch(changes=self.state.changes), [], [])
        settling = Settling(self._usage, self.state, now)
        for one in pending:
            try:
                one.decision = one.plan(self.state)
            except (Refused, PlanOutdated) as error:
                one.failure = error
                continue
            except Exception as error:  # a plan does not change the state, so only its caller is affected
                log.exception("a plan failed")
                one.failure = error
                continue
            for event in one.decision.events:
                settling.before(event)
                if isinstance(event, NodeJoined):
                    turn.joined.append(event)
                turn.commands.extend(
                    handle(self.state, completed(event, self.state, self._store.reader, self.skipped, self._usage), now)
                )
            one.decision.add_to(turn.batch)
            self.removing.update(one.decision.removed)
            if one.decision.install is not None:
                self._undo.append(one.decision.install())
        self.state.take_changes()
        add_accounts(turn.batch, self._usage, self._store.reader, self.state)
        if self._notify is not None:
            turn.batch.outbox.added += self._notify.of_decision(turn.batch.changes, turn.commands, self.state, now)
        return turn

    # Commit

    def _commit(self, turn: Turn) -> None:
        def return_to_loop(error: Exception | None) -> None:
            self._is_committing = False
            self.under_way = {}
            if isinstance(error, FilesRemoved):
                error = restore(self._store)
            if error is None:
                self._committed(turn)
            else:
                self._fail(error, turn.pending)
            self._take_turn()

        self._is_committing = True
        self.under_way = dict(turn.batch.changes.changed)
        self._store.commit(turn.batch, lambda error: self._loop.call_soon_threadsafe(return_to_loop, error))

    def _committed(self, turn: Turn) -> None:
        self._undo.clear()
        for release in turn.batch.changes.releases:
            self._usage.forget(release.job, release.attempt)
        self._usage.counters.count(turn.batch.changes)
        self._carry_out(turn)
        crashpoint.reach("controller:before-answer")
        resolve(turn.pending, None)
        self._publisher.publish_changes(turn.batch.changes, turn.batch.removed)
        if turn.batch.outbox.added and self._notify is not None:
            self._notify.committed(turn.batch.outbox.added)
        for tell in self.after_attempts if turn.batch.changes.attempts else ():
            tell(turn.batch.changes)
        for call in self.after_commit:
            call()
        self._wake_when_due()

    def _carry_out(self, turn: Turn) -> None:
        for event in turn.joined:
            self._dispatcher.admit(event.node)
            for stop in self.unrecorded.take(self.state, event.node):
                self.post(stop)
        self._dispatcher.carry_out(turn.commands, self.state, self.settings)

    # Timed changes

    def _wake_when_due(self) -> None:
        """Set the one timer to whatever comes first."""
        self._follow_clock()
        while self._set_timer():
            pass  # the clock was set meanwhile, perhaps before the timer could notice that

    def _set_timer(self) -> bool:
        """True if it has to be set again."""
        now = self._clock()
        due = None if self.degraded is not None else next_due(self.state, now)
        moment = inf if due is None else due
        if moment == self._timer_is_for:
            return False
        self._timer_is_for = moment
        self._timer.set(FAR_S if due is None else max(due - now, SOONEST_S))
        return self._follow_clock()

    def _pass_time(self) -> None:
        self._timer_is_for = None
        self._follow_clock()
        if self.degraded is None:
            self.post(TimePassed())
        else:
            self._wake_when_due()

    def _follow_clock(self) -> bool:
        """If the clock was set, move what measures elapsed time along with it. True if it was."""
        step_s = self._steps.take()
        if step_s:
            log.info("the wall clock moved by %+.1f s; elapsed times do not follow it", step_s)
            self._timer_is_for = None
            set_clock(self.state, step_s)
        return bool(step_s)

    # Recover

    def _fail(self, error: Exception, pending: list[Pending]) -> None:
        log.error("commit failed: %s", error)
        waiting, self._inbox = self._inbox, []
        resolve([*pending, *waiting], error)
        while self._undo:
            self._undo.pop()()
        self._usage.being_written.clear()
        self._must_reload = not self._has_reloaded()
        if self.degraded is None:
            self.degraded = error if isinstance(error, Refused) else unavailable("server.failed", error=str(error))
            self._degraded_at = monotonic()
            self._publisher.wake_all()  # requests that wait say why
            self._recovery = self._loop.create_task(self._recover())

    def _has_reloaded(self) -> bool:
        try:
            self._reload()
        except Exception:  # the disk cannot be read either; nothing is decided or carried out until it can
            log.exception("the state cannot be loaded")
            return False
        return True

    def _record_skipped_ids(self) -> None:
        text = self.skipped.add(self._store.reader.next_id(), self._first_id - 1)
        if text is not None:
            self.put(Decision(answer=None, settings={SKIPPED_IDS: text}))

    def _reload(self) -> None:
        """Return to what is on disk. The nodes report again what really runs once writing works."""
        self.state = load_again(self._load(), self.state)
        self.generation += 1

    def _load(self) -> State:
        return load_state(self._store, self.settings, first_id=self._first_id, now=self._clock())

    async def _recover(self) -> None:
        while True:
            await asyncio.sleep(RETRY_AFTER_FULL_S)
            if await can_write(self._store) and not (self._must_reload and not self._has_reloaded()):
                break
        log.info("the state can be written again")
        self.degraded, self._must_reload = None, False
        self._publisher.wake_all()
        for call in self.after_recovery:
            call()
        self._wake_when_due()

    # Removed files

    def check_store(self) -> None:
        """Put the database back if it was removed. A commit does so as well, but the next one may be far."""
        if self._is_committing or self.degraded is not None or self._store.has_its_files():
            return
        error = restore(self._store)
        if error is not None:
            self._fail(error, [])
