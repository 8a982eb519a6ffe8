"""Composes the controller: store, fleet, engine, and what is built on them. The API works with this object."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from tarmac.controller import notice, page_sessions
from tarmac.controller.dispatcher import Dispatcher
from tarmac.controller.engine.decision import Decision
from tarmac.controller.engine.engine import Engine
from tarmac.controller.fetch.fetches import Fetches
from tarmac.controller.fingerprints import FingerprintBook
from tarmac.controller.forecast_cache import ForecastCache
from tarmac.controller.gpus import ignored, usage
from tarmac.controller.gpus.ignored import IgnoredProcesses
from tarmac.controller.gpus.readings import GpuReadings, unstored
from tarmac.controller.gpus.usage import UsageBook, jobs_with_gpus
from tarmac.controller.history.cleaning import Cleaner
from tarmac.controller.history.history import History
from tarmac.controller.history.importing import Importer
from tarmac.controller.history.upkeep import Upkeep
from tarmac.controller.job_memory import JobMemory
from tarmac.controller.links import LinkKeeper
from tarmac.controller.log_keeper import LogKeeper
from tarmac.controller.nodes import entries
from tarmac.controller.nodes.registry import NodeRegistry
from tarmac.controller.notice import NoticeBoard
from tarmac.controller.notify.targets import Targets
from tarmac.controller.page_sessions import PageSessions
from tarmac.controller.progress.feed import ProgressFeed
from tarmac.controller.progress.reader import ProgressReader
from tarmac.controller.publisher import Publisher
from tarmac.controller.requests.repeats import Repeats
from tarmac.controller.requests.turns import Turns
from tarmac.controller.settings.old_names import rows_of
from tarmac.controller.snapshots.damage import DamageWatch
from tarmac.controller.snapshots.snapshots import Snapshots
from tarmac.controller.snapshots.upkeep import SnapshotUpkeep
from tarmac.controller.start_waits import StartWaits
from tarmac.controller.state_directory.identity import controller_id
from tarmac.controller.submit.paths.output_files import OutputFiles
from tarmac.controller.submit.submissions import Submissions
from tarmac.core.events import LaunchFailed, Reported, RulesSet
from tarmac.core.handlers.attempts.run_commands import stop_signal
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.status import holds_booking
from tarmac.nodes.fleet import Fleet
from tarmac.nodes.local import LocalConnector, lasting_name
from tarmac.nodes.session import AgentSession
from tarmac.paths import config_path
from tarmac.refusal import Refused, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tarmac.controller.notify.notifications import Notifications
    from tarmac.controller.page_sessions import PageServer
    from tarmac.controller.requests.repeats import Key
    from tarmac.controller.settings.node_entries import LocalNodeEntry
    from tarmac.controller.settings.settings import Settings
    from tarmac.core.commands import StartJob
    from tarmac.core.events import StopAsked
    from tarmac.core.model.job import Job
    from tarmac.core.model.names import Outside
    from tarmac.core.model.note import Note
    from tarmac.core.state import State
    from tarmac.nodes.session import AboutNode, Connector
    from tarmac.shared.frames.to_agent import ListedGpu
    from tarmac.store.store import Store

MOST_REPORTS = 2  # at once; each occupies a thread


class Controller:
    def __init__(
        self,
        *,
        store: Store,
        settings: Settings,
        state_folder: Path,
        home: NodeName,
        identity: str = "none",  # under which nodes keep its agents
        fleet: Fleet | None = None,
        clock: Callable[[], float] = time.time,
        words: Callable[[Note], str] = str,  # forms the messages of notify_command
        notifications: Notifications | None = None,
    ) -> None:
        self.store = store
        self.state_folder = state_folder
        self.fleet = fleet or Fleet()
        self.usage = UsageBook()
        self.publisher = Publisher(store.reader.last_event())
        self.dispatcher = Dispatcher(self.fleet, store.reader, state_folder, words)
        self.engine = self._new_engine(settings, notifications, clock)
        stored = store.reader.settings()
        self.usage.restore(stored.get(usage.SETTING), self.state.jobs)
        self.ignored = IgnoredProcesses(stored.get(ignored.SETTING), home, self.fleet.boot_id)
        self.notices = NoticeBoard(stored.get(notice.SETTING))
        self.page_sessions = PageSessions(self.engine, stored.get(page_sessions.SETTING))
        self.page: PageServer | None = None  # none in a controller that only tests use
        self.job_memory = JobMemory(self.engine, self.fleet)
        self.readings = GpuReadings(self.engine, self.usage, self.publisher, self.ignored, self.job_memory)
        self.progress = ProgressReader(self.engine, self.fleet, state_folder)
        self.progress_feed = ProgressFeed(self.engine, self.progress)
        self.log_keeper = LogKeeper(self.engine, self.fleet, state_folder)
        self.links = LinkKeeper(self.engine, self.fleet, store.reader, state_folder)
        self.start_waits = StartWaits(self.fleet, state_folder)
        self.fingerprints = FingerprintBook(self.engine, store.reader, self.fleet)
        self.forecast = ForecastCache(self.engine, self.progress)
        self.submissions = Submissions(self.engine, store.reader)
        self.output_files = OutputFiles()
        self.own_directories = [str(state_folder)]  # no job may write to a file in them
        self.snapshots = Snapshots(state_folder, clock)
        self.snapshot_damage = DamageWatch(self.engine, self.snapshots, self.job)
        self.repeats = Repeats(self.engine, store.reader)
        self.history = History(store.path, words)
        self.cleaner = Cleaner(self.engine, store, self.history, state_folder)
        self.importer = Importer(self.engine, store, self.history, state_folder)
        self.upkeep = Upkeep(self.engine, store, self.cleaner)
        self.snapshot_upkeep = SnapshotUpkeep(self)
        self.notifications = notifications
        self.targets = Targets() if notifications is None else notifications.targets
        self.is_ending = False
        self.report_slots = asyncio.Semaphore(MOST_REPORTS)
        self.form_turns = Turns()
        self.nodes = NodeRegistry(self, identity, stored.get(entries.SETTING))
        self.fetches = Fetches(self)
        self._began = time.monotonic()
        self._connect_parts()

    def _new_engine(
        self, settings: Settings, notifications: Notifications | None, clock: Callable[[], float]
    ) -> Engine:
        return Engine(
            store=self.store,
            settings=settings,
            dispatcher=self.dispatcher,
            publisher=self.publisher,
            usage=self.usage,
            notify=notifications,
            clock=clock,
            first_id=highest_trace(self.state_folder) + 1,
        )

    def _connect_parts(self) -> None:
        """Tell each part whom to call."""
        self.dispatcher.cannot_start = self._cannot_start
        self.dispatcher.state_now = lambda: self.state
        self.dispatcher.prepare_fetch = self.fetches.prepare
        self.dispatcher.admitted.append(self.fetches.node_joined)
        self.engine.after_commit.append(self.history.committed)
        self.engine.after_recovery.append(self.fleet.disconnect)  # so that nodes report again what really runs
        if self.notifications is not None:
            self.notifications.begin(self.engine, self.store.reader.outbox, self.fleet, self.state_folder, self.job)

    def add_node(self, name: NodeName, connector: Connector, **about: Unpack[AboutNode]) -> None:
        self.fleet.add(
            AgentSession(
                name,
                connector,
                post=self.engine.post,
                readings=self.readings,
                fingerprints=self.fingerprints.take,
                **about,
            )
        )

    def _cannot_start(self, start: StartJob, why: Note | str, outside: Outside | None = None) -> None:
        """As if the node had refused. Called while a decision is carried out, so the next one comes later."""
        report = LaunchFailed(job=start.job, attempt=start.attempt, message=why, at=self.engine.now(), outside=outside)
        event = Reported(node=start.place.node, report=report)
        asyncio.get_running_loop().call_soon(self.engine.post, event)

    # What the engine knows

    @property
    def state(self) -> State:
        return self.engine.state

    @property
    def settings(self) -> Settings:
        return self.engine.settings

    @property
    def degraded(self) -> Refused | None:
        return self.engine.degraded

    @property
    def degraded_s(self) -> float | None:
        return self.engine.degraded_s

    def now(self) -> float:
        return self.engine.now()

    def uptime_s(self) -> float:
        return time.monotonic() - self._began

    # Jobs, live or ended

    async def written(self) -> None:
        """Wait for the commit under way. A request that reads the disk then finds what others were shown of memory."""
        if self.engine.under_way:
            await self.engine.commit()

    def job(self, number: int) -> Job | None:
        return next(iter(self.jobs([number])), None)

    def jobs(self, numbers: list[int]) -> list[Job]:
        """Those that exist, in the given order: live ones from memory, the others from the store.

        For a plan, a job does not exist if an earlier plan of the same turn removes it, and has the labels that an
        earlier one gave it.
        """
        numbers = [number for number in numbers if number not in self.engine.removing]
        live = {number: job for number in numbers if (job := self._live(number)) is not None}
        stored = self.store.reader.jobs([number for number in numbers if number not in live])
        stored.update((number, job) for number, job in self.state.changes.relabelled.items() if number in stored)
        return [job for number in numbers if (job := live.get(number) or stored.get(number)) is not None]

    def is_ended(self, number: int) -> bool:
        """True once the job's end is committed."""
        return self._live(number) is None

    def _live(self, number: int) -> Job | None:
        return self.state.jobs.get(JobId(number)) or self.engine.under_way.get(JobId(number))

    # Requests that are more than one decision

    async def change_setting(
        self, name: str, text_after: Callable[[Settings], str | None], key: Key | None = None
    ) -> Settings:
        """Put a setting in force and store it. The decision asks for the text, given the newest settings.

        None as the text returns the setting to the config file or the default. Returns the settings with the change.
        With a key, a repetition of the request finds out that it was carried out.
        """

        def plan(_: State) -> Decision[Settings]:
            text = text_after(self.settings)
            changed = self.settings.changed(name, text)
            return Decision(
                answer=changed,
                events=[RulesSet(rules=changed.in_force.rules)],
                settings=rows_of(name, text),
                install=lambda: self.engine.install(changed),
            )

        changed = await self.engine.decide(self.repeats.keeping(key, plan, is_answer=False))
        self.readings.refresh()
        return changed

    def signal_now(self, stop: StopAsked) -> bool:
        """Signal a job at once, and record that later: what fills the disk must be stoppable while it is full."""
        job = self.state.jobs.get(stop.job)
        booking = None if job is None else holds_booking(job.status)
        if job is None or booking is None:
            return False
        grace_s = job.spec.grace_s if stop.grace_s is None else stop.grace_s
        signals = [stop_signal(job, name, grace_s) for name in booking.open_nodes]
        sent = [self.dispatcher.signal_at_once(signal) for signal in signals]
        if not any(sent):
            return False
        self.engine.unrecorded.add(stop)
        return True

    # The end

    def end(self) -> None:
        """Let streams and long requests finish."""
        self.is_ending = True
        self.publisher.wake_all()

    async def store_usage(self) -> None:
        """Before the end. If nothing can be written, the usage of a minute ago is what remains."""
        self.usage.settle(jobs_with_gpus(self.state), self.now())
        with suppress(Refused):
            await self.engine.decide(self._storing_usage)

    def _storing_usage(self, _: State) -> Decision[None]:
        return replace(unstored(self.usage), settings={usage.SETTING: self.usage.text()})


def composed(
    store: Store,
    settings: Settings,
    state_folder: Path,
    listed_gpus: list[ListedGpu] | None = None,
    nodes: Sequence[LocalNodeEntry] = (),
    words: Callable[[Note], str] = str,
    notifications: Notifications | None = None,
) -> Controller:
    """The controller of a state directory, with its home node and the nodes that the config file lists."""
    home = lasting_name(state_folder, socket.gethostname())
    controller = Controller(
        store=store,
        settings=settings,
        state_folder=state_folder,
        home=home,
        identity=controller_id(state_folder, socket.gethostname()),
        words=words,
        notifications=notifications,
    )
    listed = {} if listed_gpus is None else {"TARMAC_LISTED_GPUS": json.dumps(listed_gpus)}
    controller.add_node(home, LocalConnector(state_folder, listed))
    controller.own_directories += [os.path.dirname(config_path()), *(node.state for node in nodes)]
    for node in nodes:
        if node.name == home:
            raise invalid("config.node_is_home", node=home)
        if node.name in controller.nodes.entries:  # one of the two would silently take the place of the other
            raise invalid("config.node_was_added", node=node.name)
        if os.path.realpath(node.state) == os.path.realpath(state_folder):  # its GPUs would be booked twice
            raise invalid("config.node_state_is_home", node=node.name, state=node.state)
        environment = {"TARMAC_AGENT_NODE": node.name, **node.environment}
        controller.add_node(NodeName(node.name), LocalConnector(Path(node.state), environment))
    if nodes:  # known before they join: a request that one may meet must not be refused as impossible
        watched = {node.name for node in nodes if node.watch_only}
        for session in controller.fleet:
            controller.state.add_node(session.name, is_watch_only=session.name in watched)
    controller.nodes.begin()
    return controller


def highest_trace(state_folder: Path) -> int:
    """The highest job id that a log or a run directory mentions: ids of a lost database are not reused."""
    names = [path.name for folder in ("logs", "agent/runs") for path in (state_folder / folder).glob("*.*")]
    return max((int(name) for name in (name.partition(".")[0] for name in names) if name.isdecimal()), default=0)
