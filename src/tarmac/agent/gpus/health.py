"""What is wrong with which GPU. Remembers every GPU ever seen: one that is gone or hangs stays in the frame.

A fault that the driver reports only once (an Xid, an error count that rose) counts until the GPU has been well for ten
minutes. All of it outlives the agent (see gpu_history): restarting the agent does not fix a GPU.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Callable, Collection, Dict, Iterable, List, NamedTuple, Optional, cast

from tarmac.agent.gpus import xid
from tarmac.agent.gpus.gpu_history import GpuHistory
from tarmac.agent.gpus.heartbeat import DriverSpot

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu, ProbedProcess, ProbeReadingFrame
    from tarmac.shared.frames.to_controller import GpuState

    class JudgedGpu(GpuState):
        """A GPU with its health. Its processes are not attributed to jobs yet."""

        processes: List[ProbedProcess]


HANGS = "does not answer"
VANISHED = "vanished from the driver"


class Judgement(NamedTuple):
    gpus: List[JudgedGpu]
    error: Optional[str]  # why GPUs are missing


class _Trouble(NamedTuple):
    message: str
    at: float


class _Named(NamedTuple):
    gpus: Dict[str, ProbedGpu]  # by uuid
    errors: List[str]  # one for each GPU whose uuid is unknown


class GpuHealth:
    def __init__(self, path: Optional[str] = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._well_s = float(os.environ.get("TARMAC_GPU_WELL_S", "600"))
        self._history = GpuHistory(path)
        records = self._history.read()
        self._known: Dict[str, JudgedGpu] = {uuid: _unread(gpu) for uuid, gpu in records.gpus.items()}
        self._ecc: Dict[str, int] = records.ecc
        # The ten minutes begin again: nothing watched the GPU in the meantime.
        self._troubles: Dict[str, _Trouble] = {
            uuid: _Trouble(message, clock()) for uuid, message in records.troubles.items()
        }

    def note_xid(self, uuid: str, number: int) -> None:
        message = xid.describe(number)
        if message is not None:
            self._troubles[uuid] = _Trouble(message, self._clock())

    def uuid_of(self, make: str, index: Optional[int]) -> Optional[str]:
        """Return the uuid of the GPU that had this index last."""
        for uuid, gpu in self._known.items():
            if gpu["make"] == make and gpu["index"] == index and gpu["health"] != VANISHED:
                return uuid
        return None

    def judge(self, reading: ProbeReadingFrame, hanging: Collection[DriverSpot]) -> Judgement:
        for uuid in reading["divided"]:
            self._known.pop(uuid, None)
        named = self._name(reading["gpus"])
        for uuid, gpu in named.gpus.items():
            self._known[uuid] = self._judge_present(uuid, gpu)
        for uuid, known in self._known.items():
            if uuid not in named.gpus:
                self._known[uuid] = self._judge_missing(known, reading["absent"], hanging)
        self._save()
        gpus = sorted(self._known.values(), key=lambda gpu: (gpu["index"], gpu["health"] or "", gpu["uuid"]))
        return Judgement(gpus, _error(reading["absent"], named.errors, gpus, hanging))

    def forget(self, uuids: Iterable[str]) -> None:
        """Forget those of the GPUs that are gone."""
        for uuid in uuids:
            if uuid in self._known and self._known[uuid]["gone_since"] is not None:
                del self._known[uuid]
                self._ecc.pop(uuid, None)
                self._troubles.pop(uuid, None)
        self._save()

    def pardon(self, uuids: Iterable[str]) -> List[str]:
        """Drop past faults because a person says the GPUs are well. A fault that the driver still reports stays.

        Return the GPUs that had one.
        """
        known = [uuid for uuid in uuids if uuid in self._known]
        pardoned = [uuid for uuid in known if (self._known[uuid]["parent"] or uuid) in self._troubles]
        for uuid in pardoned:
            self._troubles.pop(self._known[uuid]["parent"] or uuid, None)
        return pardoned

    def covered(self, uuids: Iterable[str], spot: DriverSpot) -> List[str]:
        return [uuid for uuid in uuids if uuid in self._known and spot.covers(self._known[uuid])]

    def _save(self) -> None:
        self._history.write(self._known, self._ecc, {uuid: trouble.message for uuid, trouble in self._troubles.items()})

    def _name(self, gpus: Iterable[ProbedGpu]) -> _Named:
        """A GPU that does not tell its uuid is the one that had its index last, unless that one is listed elsewhere."""
        named = {gpu["uuid"]: gpu for gpu in gpus if gpu["uuid"] is not None}
        errors = []
        for gpu in gpus:
            if gpu["uuid"] is None:
                uuid = self.uuid_of(gpu["make"], gpu["index"])
                if uuid is None or uuid in named:
                    errors.append(f"GPU {gpu['index']} {gpu['fault']}")
                else:
                    named[uuid] = {**gpu, "uuid": uuid}
        return _Named(named, errors)

    def _judge_present(self, uuid: str, gpu: ProbedGpu) -> JudgedGpu:
        if gpu["fault"] is not None:
            last = _without_readings(self._known.get(uuid) or _judged(uuid, gpu, health=None))
            return {**last, "index": gpu["index"], "health": gpu["fault"], "gone_since": None}
        self._count_errors(gpu["parent"] or uuid, gpu["ecc_errors"])
        return _judged(uuid, gpu, health=gpu["repair"] or self._trouble(gpu["parent"] or uuid))

    def _count_errors(self, uuid: str, count: Optional[int]) -> None:
        if count is None:
            self._ecc.setdefault(uuid, 0)  # if the driver reports any later, they are new
            return
        before = self._ecc.get(uuid, count)
        rise = count - before if count >= before else count  # a smaller count: the driver was reloaded
        self._ecc[uuid] = count
        if rise > 0:
            errors = "an uncorrectable memory error" if rise == 1 else f"{rise} uncorrectable memory errors"
            self._troubles[uuid] = _Trouble(f"{errors} (ECC)", self._clock())

    def _trouble(self, uuid: str) -> Optional[str]:
        trouble = self._troubles.get(uuid)
        if trouble is None:
            return None
        if self._clock() - trouble.at >= self._well_s:
            del self._troubles[uuid]
            return None
        return trouble.message

    def _judge_missing(self, gpu: JudgedGpu, absent: Dict[str, str], hanging: Collection[DriverSpot]) -> JudgedGpu:
        last = _without_readings(gpu)
        if any(spot.covers(gpu) for spot in hanging):
            return {**last, "health": HANGS}
        why = absent.get(gpu["make"])
        health = f"its driver is gone: {why}" if why else VANISHED
        since = gpu["gone_since"]
        return {**last, "health": health, "gone_since": time.time() if since is None else since}


def _judged(uuid: str, gpu: ProbedGpu, *, health: Optional[str]) -> JudgedGpu:
    return {
        "index": gpu["index"],
        "uuid": uuid,
        "model": gpu["model"],
        "memory_total_bytes": gpu["memory_total_bytes"],
        "memory_used_bytes": gpu["memory_used_bytes"],
        "utilization": gpu["utilization"],
        "temperature": gpu["temperature"],
        "power_w": gpu["power_w"],
        "links": gpu["links"],
        "parent": gpu["parent"],
        "make": gpu["make"],
        "processes": gpu["processes"],
        "health": health,
        "gone_since": None,
    }


def _unread(record: Dict[str, Any]) -> JudgedGpu:
    """A GPU from the history file, before the driver was asked."""
    return cast(
        "JudgedGpu",
        {
            **record,
            "memory_used_bytes": None,
            "utilization": None,
            "temperature": None,
            "power_w": None,
            "processes": [],
            "health": None if record["gone_since"] is None else VANISHED,
        },
    )


def _without_readings(gpu: JudgedGpu) -> JudgedGpu:
    """A GPU that cannot be read now: of the processes last seen on it, those that still exist."""
    processes = [process for process in gpu["processes"] if os.path.exists(f"/proc/{process['pid']}")]
    return {**gpu, "processes": processes, "utilization": None, "temperature": None, "power_w": None}


def _error(
    absent: Dict[str, str], errors: List[str], gpus: List[JudgedGpu], hanging: Collection[DriverSpot]
) -> Optional[str]:
    makes = {gpu["make"] for gpu in gpus}
    lines = [why for make, why in absent.items() if not gpus or make in makes]
    for spot in hanging:
        if spot.number is None:
            lines.append(f"the {spot.make} driver does not answer")
        elif spot.uuid is None:
            lines.append(f"GPU {spot.number} does not answer")
    return "; ".join(lines + errors) or None
