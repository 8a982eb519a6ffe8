"""Keeps a GPU probe running, in a child process because a driver call may hang or crash, and passes its readings on.

A probe that hangs is replaced at once by one that skips the GPU in question. That GPU is retried, soon at first, by a
separate probe, and comes back once a reading of it completes.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Callable, Dict, Iterable, List, NamedTuple, Optional, Set, Union

from tarmac.agent.gpus.backoff import Backoff
from tarmac.agent.gpus.health import GpuHealth
from tarmac.agent.gpus.heartbeat import DriverSpot
from tarmac.agent.gpus.probe import LOST_DRIVER, NO_DRIVER, ProbeScope
from tarmac.agent.gpus.probe_process import ProbeProcess
from tarmac.agent.loop import Loop, log
from tarmac.agent.procs.attribution import Attribution
from tarmac.agent.procs.host_memory import read_memory

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbeFrame, ProbeReadingFrame
    from tarmac.agent.gpus.health import JudgedGpu
    from tarmac.shared.frames.to_controller import GpuEntry, GpusFrame, GpusUnchangedFrame, HostMemory

_CHECK_S = 0.5
# Checks without progress after which a probe hangs. Starting may take long: a driver without persistence mode wakes
# every GPU.
_PATIENCE, _ASLEEP, _STARTING, _TRIAL, _STARVED = 6, 40, 40, 20, 40
_START = "-start"
_NO_DRIVER_AGAIN_S = 60.0
_LONGEST_BACKOFF_S = 60.0
_CRASHES_FOR_GOOD_S = 4.0
_CRASHED = dict.fromkeys(("nvidia", "amd"), "the GPU probe crashed")


class Spot(NamedTuple):
    """A GPU that hangs, or with number None its driver, without the uuid, which may be unknown."""

    make: str
    number: Optional[int]


class GpuMonitor:
    def __init__(
        self,
        loop: Loop,
        send: Callable[[Union[GpusFrame, GpusUnchangedFrame]], None],
        attribution: Callable[[], Attribution],
        history_path: Optional[str] = None,
    ) -> None:
        self.latest: Optional[GpusFrame] = None
        self._loop = loop
        self._send = send
        self._attribution = attribution
        self._backoff = Backoff()
        self._health = GpuHealth(history_path)
        self._reading: Optional[ProbeReadingFrame] = None  # the probe's newest
        self._probe: Optional[ProbeProcess] = None
        self._all: Set[ProbeProcess] = set()  # including those that were killed and have not ended yet
        self._hanging: Dict[Spot, DriverSpot] = {}
        self._trials: Dict[Spot, ProbeProcess] = {}
        self._checked_at = 0.0
        self._is_checking = False
        self._restart_s = 1.0

    @property
    def pids(self) -> Set[int]:
        return {probe.pid for probe in self._all}

    def begin(self) -> None:
        if self._probe is not None and not self._probe.is_killed:
            return
        self._probe = self._fork(ProbeScope(skip=list(self._hanging.values())), self._apply)
        self._check_soon()

    def refresh(self) -> None:
        """Judge the last reading again: a process changed its job, or time has passed."""
        if self._reading is not None:
            self._judge(self._reading)

    # Requests of a person

    def forget(self, uuids: Iterable[str]) -> None:
        self._health.forget(uuids)
        self.refresh()

    def try_now(self, uuids: List[str]) -> List[str]:
        """Retry these GPUs at once. Return those whose state may change in a moment."""
        tried = self._health.pardon(uuids)
        if tried:
            self.refresh()
        for spot, driver_spot in list(self._hanging.items()):
            covered = self._health.covered(uuids, driver_spot)
            if covered:
                self._backoff.reset(spot)
                self._try(spot)
                tried += covered
        if self._probe is None:  # the driver is gone, and the next attempt to find it may be a minute away
            self.begin()
            return uuids
        return tried

    # Readings

    def _apply(self, frame: ProbeFrame) -> None:
        if frame["type"] == "xid":
            self._health.note_xid(frame["uuid"], frame["number"])
            log(f"GPU {frame['uuid']}: Xid {frame['number']}")
        elif frame["type"] == "gpus":
            if frame["source"] != "none":
                self._restart_s = 1.0
            self._reading = frame
        before = self.latest
        self.refresh()
        if self.latest is before is not None:
            self._send({"type": "gpus_unchanged"})

    def _judge(self, reading: ProbeReadingFrame) -> None:
        gpus, error = self._health.judge(reading, self._hanging.values())
        self._publish(gpus, error, reading["source"], reading["host"])

    def _publish(self, gpus: List[JudgedGpu], error: Optional[str], source: str, host: HostMemory) -> None:
        frame: GpusFrame = {
            "type": "gpus",
            "gpus": self._attributed(gpus),
            "error": error,
            "source": source,
            "host": host,
        }
        if frame != self.latest:
            self.latest = frame
            self._send(frame)

    def _attributed(self, gpus: List[JudgedGpu]) -> List[GpuEntry]:
        attribution = self._attribution() if any(gpu["processes"] for gpu in gpus) else None
        return [
            {**gpu, "processes": [attribution.entry_of(process) for process in gpu["processes"]] if attribution else []}
            for gpu in gpus
        ]

    # Hanging probes

    def _check_soon(self) -> None:
        if not self._is_checking:
            self._is_checking = True
            self._checked_at = time.monotonic()
            self._loop.after(_CHECK_S, self._check, "GPU probe")

    def _check(self) -> None:
        self._is_checking = False
        # Late means that the machine slept or was overloaded, so the probe had no chance either.
        is_late = time.monotonic() - self._checked_at > 2 * _CHECK_S
        alive = [probe for probe in self._all if not probe.is_killed]
        for probe in alive:
            spot = probe.spot
            stalled = probe.check(is_late=is_late)
            # A probe that waits for a processor does not hang, unless it waits for very long.
            if stalled >= _patience(probe, spot) and (stalled >= _STARVED or not probe.is_running):
                self._replace(probe, spot)
        if alive:
            self._check_soon()

    def _replace(self, probe: ProbeProcess, spot: Optional[DriverSpot]) -> None:
        log(f"GPU probe {probe.pid} hangs at {spot}, killing it")
        probe.kill()
        if probe is not self._probe:
            return  # a trial: the next one follows once this one has ended
        if spot is not None:
            self._skip(spot)
        self.begin()

    def _skip(self, at: DriverSpot) -> None:
        make = at.make[: -len(_START)] if at.make.endswith(_START) else at.make
        uuid = at.uuid or (self._health.uuid_of(make, at.number) if at.number is not None else None)
        spot = Spot(make, at.number)
        hanging = self._hanging[spot] = DriverSpot(make, at.number, uuid)
        self._try_later(spot)
        # At once: the next reading takes a moment, and nothing may be placed on that GPU meanwhile.
        reading = self._reading or _no_reading()
        self._reading = {**reading, "gpus": [gpu for gpu in reading["gpus"] if not hanging.covers(gpu)]}
        self.refresh()

    def _try_later(self, spot: Spot) -> None:
        self._loop.after(self._backoff.next_s(spot), lambda: self._try(spot), "GPU probe")

    def _try(self, spot: Spot) -> None:
        if spot in self._hanging and spot not in self._trials:
            self._trials[spot] = self._fork(ProbeScope(only=self._hanging[spot]), lambda _: None)
            self._check_soon()

    # Ends of probes

    def _fork(self, scope: ProbeScope, on_frame: Callable[[ProbeFrame], None]) -> ProbeProcess:
        probe = ProbeProcess(self._loop, scope, on_frame, self._ended)
        self._all.add(probe)
        return probe

    def _ended(self, probe: ProbeProcess, status: int) -> None:
        self._all.discard(probe)
        for spot, trial in list(self._trials.items()):
            if trial is probe:
                del self._trials[spot]
                self._trial_ended(spot, probe)
        if probe is self._probe:
            self._probe = None
            self._restart(status)

    def _trial_ended(self, spot: Spot, trial: ProbeProcess) -> None:
        if trial.is_killed:
            self._try_later(spot)
            return
        log(f"GPU {self._hanging[spot].uuid or spot} answers again")
        del self._hanging[spot]
        self._backoff.answered(spot)
        if self._probe is not None:
            self._probe.kill()
            self.begin()

    def _restart(self, status: int) -> None:
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        # A machine without a driver is normal. Where there was one, it is being reloaded.
        if code == NO_DRIVER and not (self.latest and self.latest["gpus"]):
            self._loop.after(_NO_DRIVER_AGAIN_S, self.begin, "GPU probe")
            return
        if code not in (NO_DRIVER, LOST_DRIVER):
            log(f"GPU probe ended with wait status {status}, restarting it in {self._restart_s:.0f} s")
            # A probe killed before its first reading may succeed next time, so do not report zero GPUs yet.
            if self.latest is None and self._restart_s >= _CRASHES_FOR_GOOD_S:
                gpus, _ = self._health.judge({**_no_reading(), "absent": _CRASHED}, ())
                self._publish(gpus, "the GPU probe crashed", "none", read_memory())
        self._loop.after(self._restart_s, self.begin, "GPU probe")
        self._restart_s = min(2 * self._restart_s, _LONGEST_BACKOFF_S)


def _no_reading() -> ProbeReadingFrame:
    return {"type": "gpus", "gpus": [], "divided": [], "absent": {}, "source": "none", "host": read_memory()}


def _patience(probe: ProbeProcess, spot: Optional[DriverSpot]) -> int:
    if spot is None:
        return _ASLEEP
    if spot.make.endswith(_START):
        return _STARTING
    return _PATIENCE if probe.scope.only is None else _TRIAL
