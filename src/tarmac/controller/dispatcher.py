"""Carries out what was decided and kept: the only sender of commands to a node.

A command belongs to the connection under which it was decided. On a newer one it is dropped: joining settles anew
what the node has to do, from what it really runs.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from tarmac.controller.notifier import Notifier
from tarmac.controller.start_frame import job_environment, start_frame
from tarmac.core.commands import AdoptProcess, Command, ForgetRun, Notify, SignalJob, StartJob
from tarmac.shared import crashpoint
from tarmac.shared.protocol import ProtocolError

if TYPE_CHECKING:
    from tarmac.controller.engine import Engine
    from tarmac.core.model.status import Booking

log = logging.getLogger(__name__)

MOST_ENVIRONMENTS = 64


class Hands:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._environments: dict[str, dict[str, str]] = {}
        self._notifier = Notifier()

    def carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            try:
                self._carry_out(command)
            except ProtocolError as error:
                log.error("job %d: %s", command.job, error)  # noqa: TRY400 - the words say it all

    def _carry_out(self, command: Command) -> None:
        match command:
            case StartJob():
                crashpoint.reach("controller:before-start")
                self._start(command)
                crashpoint.reach("controller:after-start")
            case AdoptProcess():
                self._send(command, {"type": "adopt", "pid": command.pid})
            case SignalJob():
                crashpoint.reach("controller:before-signal")
                self._send(command, {"type": "signal", "signal": command.signal, "grace_s": command.grace_s})
                crashpoint.reach("controller:after-signal")
            case ForgetRun():
                crashpoint.reach("controller:before-forget")
                self._send(command, {"type": "forget"})
                crashpoint.reach("controller:after-forget")
            case Notify():
                self._notifier.tell(self._engine.settings["notify_command"], command)
            case _:
                assert_never(command)

    def _start(self, command: StartJob) -> None:
        job = self._engine.state.jobs.get(command.job)
        if job is None:
            return
        start = replace(command, booking=self._as_counted_now(command.booking))
        submitted = self._environment(job.spec.environment)
        environment = job_environment(
            job,
            start,
            submitted,
            gpu_id_style=self._engine.settings["gpu_id_style"],
            state_folder=self._engine.state_folder,
        )
        frame = start_frame(job, start, environment, self._engine.state_folder)
        self._engine.fleet.send_command(start.booking.node, frame)

    def _as_counted_now(self, booking: Booking) -> Booking:
        """GPUs are booked by UUID; their indices may have changed since, as after a reboot without one of them."""
        gpus = self._engine.state.node(booking.node).gpus
        known = (replace(gpu, index=gpus[gpu.uuid].index) if gpu.uuid in gpus else gpu for gpu in booking.gpus)
        return replace(booking, gpus=tuple(known))

    def _send(self, command: AdoptProcess | SignalJob | ForgetRun, frame: dict[str, Any]) -> None:
        frame = {**frame, "job": command.job, "attempt": command.attempt}
        self._engine.fleet.send_command(command.node, frame)

    def _environment(self, digest: str) -> dict[str, str]:
        known = self._environments.get(digest)
        if known is None:
            if len(self._environments) >= MOST_ENVIRONMENTS:
                self._environments.clear()
            known = self._environments[digest] = self._engine.store.reader.environment(digest)
        return known
