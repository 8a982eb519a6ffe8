"""Keeps the GPU probe going: a child of its own, because a driver call may hang or crash. Passes on what it reads.

A probe that hangs is replaced at once by one that leaves the GPU in question out. The GPU is tried again, soon at
first, by a probe of its own, and comes back once a reading of it has come to an end.
"""

from __future__ import annotations

import os
import time
from typing import Callable, Dict, Iterable, List, Optional, Set, Tuple

from tarmac.agent.gpus.backoff import Retries
from tarmac.agent.gpus.health import GpuHealth
from tarmac.agent.gpus.heartbeat import DriverSpot
from tarmac.agent.gpus.probe import LOST_DRIVER, NO_DRIVER, Order
from tarmac.agent.gpus.probe_process import Probing
from tarmac.agent.loop import Loop, log
from tarmac.agent.procs.attribution import Attribution
from tarmac.agent.procs.host_memory import read_memory
from tarmac.shared.protocol import Message

_LOOK_S = 0.5
# Looks without a move, after which it hangs. Beginning may take long: a driver without persistence wakes every GPU.
_PATIENCE, _ASLEEP, _BEGINNING, _TRIAL, _STARVED = 6, 40, 40, 20, 40
_START = "-start"
_NO_DRIVER_AGAIN_S = 60.0
_LONGEST_BACKOFF_S = 60.0
_CRASHES_FOR_GOOD_S = 4.0
_CRASHED = dict.fromkeys(("nvidia", "amd"), "the GPU probe crashed")

Spot = Tuple[str, Optional[int]]  # make and number


class GpuWatch:
    def __init__(
        self,
        loop: Loop,
        send: Callable[[Message], None],
        attribution: Callable[[], Attribution],
        gpu_file: Optional[str] = None,
    ) -> None:
        self.latest: Optional[Message] = None
        self._loop = loop
        self._send = send
        self._attribution = attribution
        self._retries = Retries()
        self._ledger = GpuHealth(gpu_file)
        self._read: Optional[Message] = None  # the probe's newest frame
        self._probe: Optional[Probing] = None
        self._all: Set[Probing] = set()  # also those that were killed and are not gone yet
        self._mute: Dict[Spot, DriverSpot] = {}
        self._trials: Dict[Spot, Probing] = {}
        self._looked_at = 0.0
        self._is_looking = False
        self._backoff_s = 1.0

    @property
    def pids(self) -> Set[int]:
        return {probing.pid for probing in self._all}

    def begin(self) -> None:
        if self._probe is not None and not self._probe.is_killed:
            return
        self._probe = self._fork(Order(skip=list(self._mute.values())), self._hear)
        self._look_soon()

    def refresh(self) -> None:
        """Which process belongs to which job has changed, or time has passed."""
        if self._read is not None:
            self._judge(self._read)

    # What people ask for

    def forget(self, uuids: Iterable[str]) -> None:
        self._ledger.forget(uuids)
        self.refresh()

    def try_now(self, uuids: List[str]) -> List[str]:
        """Somebody wants these back. Returns those about which more will be known in a moment."""
        tried = self._ledger.pardon(uuids)
        if tried:
            self.refresh()
        for spot, place in list(self._mute.items()):
            covered = self._ledger.covered(uuids, place)
            if covered:
                self._retries.forget(spot)
                self._try(spot)
                tried += covered
        if self._probe is None:  # its driver is gone, and the next look at it may be a minute away
            self.begin()
            return uuids
        return tried

    # What is read

    def _hear(self, message: Message) -> None:
        if message["type"] == "xid":
            self._ledger.note_xid(message["uuid"], message["number"])
            log(f"GPU {message['uuid']}: Xid {message['number']}")
        elif message["type"] == "gpus":
            if message["source"] != "none":
                self._backoff_s = 1.0
            self._read = message
        before = self.latest
        self.refresh()
        if self.latest is before is not None:
            self._send({"type": "gpus_unchanged"})

    def _judge(self, read: Message) -> None:
        gpus, error = self._ledger.judge(read, self._mute.values())
        if any(gpu["processes"] for gpu in gpus):
            attribution = self._attribution()
            gpus = [{**gpu, "processes": [attribution.name(one) for one in gpu["processes"]]} for gpu in gpus]
        self._publish(gpus, error, read["source"], read["host"])

    def _publish(self, gpus: List[Message], error: Optional[str], source: str, host: Dict[str, int]) -> None:
        message = {"type": "gpus", "gpus": gpus, "error": error, "source": source, "host": host}
        if message != self.latest:
            self.latest = message
            self._send(message)

    # What hangs

    def _look_soon(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            self._looked_at = time.monotonic()
            self._loop.after(_LOOK_S, self._look, "GPU probe")

    def _look(self) -> None:
        self._is_looking = False
        # The machine slept or was overloaded, so the probe had no chance either.
        is_late = time.monotonic() - self._looked_at > 2 * _LOOK_S
        alive = [probing for probing in self._all if not probing.is_killed]
        for probing in alive:
            place = probing.place
            still = probing.look(is_late=is_late)
            # One that wants to go on and does not get a processor hangs only if that does not end.
            if still >= _patience(probing, place) and (still >= _STARVED or not probing.is_running):
                self._replace(probing, place)
        if alive:
            self._look_soon()

    def _replace(self, probing: Probing, place: Optional[DriverSpot]) -> None:
        log(f"GPU probe {probing.pid} hangs at {place}, killing it")
        probing.kill()
        if probing is not self._probe:
            return  # a trial: the next comes when it is gone
        if place is not None:
            self._leave_out(place)
        self.begin()

    def _leave_out(self, place: DriverSpot) -> None:
        make = place.make[: -len(_START)] if place.make.endswith(_START) else place.make
        uuid = place.uuid or (self._ledger.uuid_of(make, place.number) if place.number is not None else None)
        mute = self._mute[make, place.number] = DriverSpot(make, place.number, uuid)
        self._try_later((make, place.number))
        # At once: the next reading takes a moment, and nothing may be put on that GPU meanwhile.
        read = self._read or _nothing()
        self._read = {**read, "gpus": [gpu for gpu in read["gpus"] if not mute.covers(gpu)]}
        self.refresh()

    def _try_later(self, spot: Spot) -> None:
        self._loop.after(self._retries.next_s(spot), lambda: self._try(spot), "GPU probe")

    def _try(self, spot: Spot) -> None:
        if spot in self._mute and spot not in self._trials:
            self._trials[spot] = self._fork(Order(only=self._mute[spot]), lambda _: None)
            self._look_soon()

    # What ends

    def _fork(self, order: Order, heard: Callable[[Message], None]) -> Probing:
        probing = Probing(self._loop, order, heard, self._ended)
        self._all.add(probing)
        return probing

    def _ended(self, probing: Probing, status: int) -> None:
        self._all.discard(probing)
        for spot, trial in list(self._trials.items()):
            if trial is probing:
                del self._trials[spot]
                self._trial_ended(spot, probing)
        if probing is self._probe:
            self._probe = None
            self._begin_again(status)

    def _trial_ended(self, spot: Spot, trial: Probing) -> None:
        if trial.is_killed:
            self._try_later(spot)
            return
        log(f"GPU {self._mute[spot].uuid or spot} answers again")
        del self._mute[spot]
        self._retries.answered(spot)
        if self._probe is not None:
            self._probe.kill()
            self.begin()

    def _begin_again(self, status: int) -> None:
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        # No driver is no wonder where there never was one. Where there was, it is being loaded anew.
        if code == NO_DRIVER and not (self.latest and self.latest["gpus"]):
            self._loop.after(_NO_DRIVER_AGAIN_S, self.begin, "GPU probe")
            return
        if code not in (NO_DRIVER, LOST_DRIVER):
            log(f"GPU probe ended with wait status {status}, begins again in {self._backoff_s:.0f} s")
            # One that was killed before its first words may speak the next time: what is not known yet is not none.
            if self.latest is None and self._backoff_s >= _CRASHES_FOR_GOOD_S:
                gpus, _ = self._ledger.judge({**_nothing(), "absent": _CRASHED}, ())
                self._publish(gpus, "the GPU probe crashed", "none", read_memory())
        self._loop.after(self._backoff_s, self.begin, "GPU probe")
        self._backoff_s = min(2 * self._backoff_s, _LONGEST_BACKOFF_S)


def _nothing() -> Message:
    """A frame of a probe that read nothing."""
    return {"gpus": [], "divided": [], "absent": {}, "source": "none", "host": read_memory()}


def _patience(probing: Probing, place: Optional[DriverSpot]) -> int:
    if place is None:
        return _ASLEEP
    if place.make.endswith(_START):
        return _BEGINNING
    return _PATIENCE if probing.order.only is None else _TRIAL
