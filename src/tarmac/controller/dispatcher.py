"""Carries out committed decisions: the only sender of commands to a node.

A command belongs to the connection under which it was decided. The fleet drops it on a newer one, because joining
settles again what the node has to do, from what it really runs.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, assert_never

from tarmac.controller.notifier import Notifier
from tarmac.controller.snapshots.code_sender import CodeSender
from tarmac.controller.start_frame import job_environment, start_frame, warning_entry
from tarmac.core.commands import AdoptProcess, Command, ForgetRun, Notify, PauseJob, SignalJob, StartJob
from tarmac.core.model.note import note
from tarmac.core.model.status import Booking, RunName, Running, Starting, holds_booking
from tarmac.nodes.addresses import addresses_of
from tarmac.nodes.run_origins import packed
from tarmac.shared import crashpoint
from tarmac.shared.protocol import ProtocolError
from tarmac.shared.snapshots.damage_message import says_damaged
from tarmac.store.environments.secret_files import SecretsMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tarmac.controller.settings.settings import Settings
    from tarmac.controller.snapshots.code_sender import CannotCopy
    from tarmac.core.model.gpu import BookedGpu
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.names import Outside
    from tarmac.core.model.note import Note
    from tarmac.core.model.part import Place
    from tarmac.core.state import State
    from tarmac.nodes.fleet import Fleet
    from tarmac.shared.frames.to_agent import SignalFrame, StartFrame
    from tarmac.store.reader import Reader

log = logging.getLogger(__name__)

MOST_ENVIRONMENTS = 64
MOST_NAMES = 5  # of secrets in a message


class CannotStart(Protocol):
    """`outside` names what ended it from outside, such as a full disk."""

    def __call__(self, start: StartJob, why: Note | str, outside: Outside | None = None, /) -> None: ...


class Dispatcher:
    def __init__(self, fleet: Fleet, reader: Reader, state_folder: Path, words: Callable[[Note], str] = str) -> None:
        self._fleet = fleet
        self._reader = reader
        self._state_folder = state_folder
        self._environments: dict[str, dict[str, str]] = {}
        self.cannot_start: CannotStart = _log_cannot_start
        self.code = CodeSender(fleet, state_folder)
        self.prepare_fetch: Callable[[Job, int, NodeName], None] | None = None
        self.admitted: list[Callable[[NodeName], None]] = []  # called when a node has joined
        self.state_now: Callable[[], State] | None = None  # for what is carried out later
        self._notifier = Notifier(words)

    def admit(self, node: NodeName) -> None:
        """Allow commands to a node whose join was committed."""
        self._fleet.admit(node)
        for call in self.admitted:
            call(node)

    def carry_out(self, commands: Sequence[Command], state: State, settings: Settings) -> None:
        # Starts first: a free GPU waits for them, and the agent takes its time to forget an attempt.
        for command in sorted(commands, key=lambda command: not isinstance(command, StartJob)):
            try:
                self._carry_out(command, state, settings)
            except ProtocolError as error:
                log.error("job %s: %s", command.job, error)  # noqa: TRY400 - the message is enough
            except Exception:  # the decision is on disk: its callers and the other commands must not suffer
                log.exception("job %s: %s failed", command.job, type(command).__name__)

    def _carry_out(self, command: Command, state: State, settings: Settings) -> None:
        match command:
            case StartJob():
                crashpoint.reach("controller:before-start")
                self._start(command, state, settings)
                crashpoint.reach("controller:after-start")
            case AdoptProcess():
                self._adopt(command, state)
            case SignalJob():
                crashpoint.reach("controller:before-signal")
                self._signal(command)
                crashpoint.reach("controller:after-signal")
            case PauseJob():
                self._pause(command)
            case ForgetRun():
                crashpoint.reach("controller:before-forget")
                self._forget(command)
                crashpoint.reach("controller:after-forget")
            case Notify():
                self._notifier.notify(settings.in_force.notify_command, command)
            case _:
                assert_never(command)

    def _start(self, command: StartJob, state: State, settings: Settings) -> None:
        job = state.jobs.get(command.job)
        if job is None:
            return
        start = replace(command, booking=_with_current_indices(command.booking, state))
        try:
            if self.prepare_fetch is not None and start.part == 0:  # results are fetched from the first node
                self.prepare_fetch(job, start.attempt, start.booking.node)
        except OSError as error:  # never start a job whose results could be forgotten
            self.cannot_start(start, note("failed.no_fetch", trouble=error.strerror or str(error)), "disk-full")
            return
        try:
            submitted = self._environment(job.spec.environment)
        except SecretsMissing as missing:  # never start a job without them
            log.error("job %s: %s", job.id, missing)  # noqa: TRY400 - the message is enough
            self.cannot_start(start, self._no_secrets(job.spec.environment))
            return
        environment = job_environment(
            job,
            start,
            submitted,
            gpu_id_style=settings.in_force.gpu_id_style,
            state_folder=self._state_folder,
            addresses=addresses_of(self._fleet, start.booking.nodes) if start.booking.others else (),
        )
        frame = start_frame(job, start, environment, self._state_folder)
        if job.spec.snapshot is None or not self.code.is_needed(start.place.node):
            self._fleet.send_command(start.place.node, frame)
            return
        self.code.send(
            RunName(start.job, start.attempt),
            start.place.node,
            job.spec.snapshot.tree,
            arrived=lambda: self._start_with_code(start, frame),
            failed=lambda trouble: self._cannot_copy(start, trouble),
        )

    def _start_with_code(self, start: StartJob, frame: StartFrame) -> None:
        """Unless it was stopped meanwhile: its node does not know the attempt."""
        job = None if self.state_now is None else self.state_now().jobs.get(start.job)
        is_wanted = job is not None and job.attempt == start.attempt and isinstance(job.status, Starting | Running)
        if is_wanted:  # further parts of an attempt on several nodes may start while it runs
            self._fleet.send_command(start.place.node, frame)
        else:
            self.cannot_start(start, note("failed.stopped_early"))

    def _cannot_copy(self, start: StartJob, trouble: CannotCopy) -> None:
        """A damaged snapshot is reported as a node reports it."""
        message = str(trouble)
        why = message if says_damaged(message) else note("failed.no_code", node=start.place.node, trouble=message)
        self.cannot_start(start, why, "disk-full" if trouble.is_full else None)

    def _adopt(self, command: AdoptProcess, state: State) -> None:
        job = state.jobs.get(command.job)
        booking = None if job is None else holds_booking(job.status)
        if job is None or booking is None:
            return
        self._fleet.send_command(
            command.node,
            {
                "type": "adopt",
                "job": command.job,
                "attempt": command.attempt,
                "pid": command.pid,
                "start_time": command.start_time,
                "uid": command.uid,
                "origin": packed(job, booking.gpus, None),
            },
        )

    def signal_at_once(self, command: SignalJob) -> bool:
        """Signal a job although this could not be committed. False if its node is not connected."""
        if self._stop_early(command):
            return True
        return self._fleet.send_at_once(command.node, _signal_frame(command))

    def _signal(self, command: SignalJob) -> None:
        if self._stop_early(command):
            return
        self._fleet.send_command(command.node, _signal_frame(command))

    def _stop_early(self, command: SignalJob) -> bool:
        """True if the node does not know the attempt yet, because its code is still on its way."""
        if not self.code.stop(RunName(command.job, command.attempt), command.node):
            return False
        booking = Booking(node=command.node, gpus=())
        start = StartJob(job=command.job, attempt=command.attempt, booking=booking)
        self.cannot_start(start, note("failed.stopped_early"))
        return True

    def _pause(self, command: PauseJob) -> None:
        self._fleet.send_command(
            command.node,
            {
                "type": "pause",
                "job": command.job,
                "attempt": command.attempt,
                "is_paused": command.is_paused,
                "is_counted": command.is_counted,
            },
        )

    def _forget(self, command: ForgetRun) -> None:
        self._fleet.send_command(command.node, {"type": "forget", "job": command.job, "attempt": command.attempt})

    def _environment(self, digest: str) -> dict[str, str]:
        known = self._environments.get(digest)
        if known is None:
            if len(self._environments) >= MOST_ENVIRONMENTS:
                self._environments.clear()
            known = self._environments[digest] = self._reader.environment(digest)
        return known

    def _no_secrets(self, digest: str) -> Note:
        variables = self._reader.public_environment(digest)
        names = [name for name, value in variables.items() if value is None]
        listed, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
        return (
            note("failed.no_secrets", names=listed)
            if more <= 0
            else note("failed.many_secrets", names=listed, more=more)
        )


def _log_cannot_start(start: StartJob, why: Note | str, _: Outside | None = None) -> None:
    log.error("job %s cannot be started: %s", start.job, why)


def _signal_frame(command: SignalJob) -> SignalFrame:
    return {
        "type": "signal",
        "job": command.job,
        "attempt": command.attempt,
        "signal": command.signal,
        "grace_s": command.grace_s,
        "warn": warning_entry(command.warn),
    }


def _with_current_indices(booking: Booking, state: State) -> Booking:
    """GPUs are booked by UUID; their indices may have changed since, as after a reboot without one of them."""
    first, *others = (replace(place, gpus=_current(place, state)) for place in booking.places)
    return replace(booking, gpus=first.gpus, others=tuple(others))


def _current(place: Place, state: State) -> tuple[BookedGpu, ...]:
    gpus = state.nodes[place.node].gpus if place.node in state.nodes else {}
    return tuple(replace(gpu, index=gpus[gpu.uuid].index) if gpu.uuid in gpus else gpu for gpu in place.gpus)
