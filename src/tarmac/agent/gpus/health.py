"""What is wrong with which GPU. Remembers every GPU that was ever seen: one that is gone or mute stays in the frame.

A trouble that the driver tells once (an Xid, errors counted) is kept until the GPU has been well for ten minutes.
All of it outlives the agent (see card_file): that somebody started it anew has mended no GPU.
"""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Collection, Dict, Iterable, List, Optional, Tuple

from tarmac.agent.gpus import xid
from tarmac.agent.gpus.gpu_history import GpuFile
from tarmac.agent.gpus.heartbeat import DriverSpot

MUTE = "does not answer"
VANISHED = "vanished from the driver"

Gpu = Dict[str, Any]
_ONLY_FOR_US = ("fault", "repair", "ecc_errors")
_OF_THE_MOMENT = {"utilization": None, "temperature": None, "power_w": None}


class GpuHealth:
    def __init__(self, path: Optional[str] = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._well_s = float(os.environ.get("TARMAC_GPU_WELL_S", "600"))
        self._file = GpuFile(path)
        learned = self._file.read()
        self._known: Dict[str, Gpu] = {uuid: _unread(gpu) for uuid, gpu in learned.gpus.items()}
        self._ecc: Dict[str, int] = learned.ecc
        # Words, when. The ten minutes begin anew: nobody watched the GPU meanwhile.
        self._troubles: Dict[str, Tuple[str, float]] = {
            uuid: (words, clock()) for uuid, words in learned.troubles.items()
        }

    def note_xid(self, uuid: str, number: int) -> None:
        words = xid.words(number)
        if words is not None:
            self._troubles[uuid] = (words, self._clock())

    def uuid_of(self, make: str, index: Optional[int]) -> Optional[str]:
        """Of the GPU that had this number last."""
        for uuid, gpu in self._known.items():
            if gpu["make"] == make and gpu["index"] == index and gpu["health"] != VANISHED:
                return uuid
        return None

    def judge(self, frame: Dict[str, Any], mute: Collection[DriverSpot]) -> Tuple[List[Gpu], Optional[str]]:
        """All GPUs with their health, and why there are none or fewer than there should be."""
        for uuid in frame["divided"]:
            self._known.pop(uuid, None)
        listed, nameless = self._name(frame["gpus"])
        for uuid, gpu in listed.items():
            self._known[uuid] = self._judge_listed(uuid, gpu)
        for uuid, gpu in self._known.items():
            if uuid not in listed:
                self._known[uuid] = self._judge_missing(gpu, frame["absent"], mute)
        self._keep()
        gpus = sorted(self._known.values(), key=lambda gpu: (gpu["index"], gpu["health"] or "", gpu["uuid"]))
        return gpus, _error(frame["absent"], nameless, gpus, mute)

    def forget(self, uuids: Iterable[str]) -> None:
        """Those of them that are gone."""
        for uuid in uuids:
            if uuid in self._known and self._known[uuid]["gone_since"] is not None:
                del self._known[uuid]
                self._ecc.pop(uuid, None)
                self._troubles.pop(uuid, None)
        self._keep()

    def pardon(self, uuids: Iterable[str]) -> List[str]:
        """A person says that these are well again. What the driver still tells of them counts more."""
        known = [uuid for uuid in uuids if uuid in self._known]
        pardoned = [uuid for uuid in known if (self._known[uuid]["parent"] or uuid) in self._troubles]
        for uuid in pardoned:
            self._troubles.pop(self._known[uuid]["parent"] or uuid, None)
        return pardoned

    def covered(self, uuids: Iterable[str], place: DriverSpot) -> List[str]:
        return [uuid for uuid in uuids if uuid in self._known and place.covers(self._known[uuid])]

    def _keep(self) -> None:
        self._file.write(self._known, self._ecc, {uuid: words for uuid, (words, _) in self._troubles.items()})

    def _name(self, gpus: Iterable[Gpu]) -> Tuple[Dict[str, Gpu], List[str]]:
        """One that does not even tell its uuid is the one that had its number, unless that turned up elsewhere."""
        listed = {gpu["uuid"]: gpu for gpu in gpus if gpu["uuid"] is not None}
        nameless = []
        for gpu in gpus:
            if gpu["uuid"] is None:
                uuid = self.uuid_of(gpu["make"], gpu["index"])
                if uuid is None or uuid in listed:
                    nameless.append(f"GPU {gpu['index']} {gpu['fault']}")
                else:
                    listed[uuid] = {**gpu, "uuid": uuid}
        return listed, nameless

    def _judge_listed(self, uuid: str, gpu: Gpu) -> Gpu:
        told = {name: value for name, value in gpu.items() if name not in _ONLY_FOR_US}
        if gpu["fault"] is not None:
            last = _with_living_holders(self._known.get(uuid) or told)
            return {**last, **_OF_THE_MOMENT, "index": gpu["index"], "health": gpu["fault"], "gone_since": None}
        self._count_errors(gpu["parent"] or uuid, gpu["ecc_errors"])
        health = gpu["repair"] or self._trouble(gpu["parent"] or uuid)
        return {**told, "health": health, "gone_since": None}

    def _count_errors(self, uuid: str, count: Optional[int]) -> None:
        if count is None:
            self._ecc.setdefault(uuid, 0)  # should it tell of any later, they are new
            return
        before = self._ecc.get(uuid, count)
        rise = count - before if count >= before else count  # less: the driver was loaded anew and counts from 0
        self._ecc[uuid] = count
        if rise > 0:
            errors = "an uncorrectable memory error" if rise == 1 else f"{rise} uncorrectable memory errors"
            self._troubles[uuid] = (f"{errors} (ECC)", self._clock())

    def _trouble(self, uuid: str) -> Optional[str]:
        words, at = self._troubles.get(uuid, (None, 0.0))
        if words is not None and self._clock() - at >= self._well_s:
            del self._troubles[uuid]
            return None
        return words

    def _judge_missing(self, gpu: Gpu, absent: Dict[str, str], mute: Collection[DriverSpot]) -> Gpu:
        last = {**_with_living_holders(gpu), **_OF_THE_MOMENT}
        if any(place.covers(gpu) for place in mute):
            return {**last, "health": MUTE}
        why = absent.get(gpu["make"])
        health = f"its driver is gone: {why}" if why else VANISHED
        since = gpu["gone_since"]
        return {**last, "health": health, "gone_since": time.time() if since is None else since}


def _unread(gpu: Gpu) -> Gpu:
    """As the file has it, before the driver was asked."""
    health = None if gpu["gone_since"] is None else VANISHED
    return {**gpu, **_OF_THE_MOMENT, "memory_used_bytes": None, "processes": [], "health": health}


def _with_living_holders(gpu: Gpu) -> Gpu:
    """Of a GPU that cannot be asked: who was on it last and has not ended since."""
    if not gpu["processes"]:
        return gpu
    return {**gpu, "processes": [one for one in gpu["processes"] if os.path.exists(f"/proc/{one['pid']}")]}


def _error(absent: Dict[str, str], nameless: List[str], gpus: List[Gpu], mute: Collection[DriverSpot]) -> Optional[str]:
    makes = {gpu["make"] for gpu in gpus}
    lines = [why for make, why in absent.items() if not gpus or make in makes]
    for place in mute:
        if place.number is None:
            lines.append(f"the {place.make} driver does not answer")
        elif place.uuid is None:
            lines.append(f"GPU {place.number} does not answer")
    return "; ".join(lines + nameless) or None
