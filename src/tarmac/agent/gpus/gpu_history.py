"""What was learned of the GPUs, in a file that outlives the agent: which there are, errors counted, troubles told.

A file and not the controller's database: the one who learns it writes it, and a controller that is away loses nothing.
It is replaced as a whole. One that is torn, foreign or lost reads as empty: then every GPU is met for the first time.
"""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, Optional, Tuple

from tarmac.agent.loop import log

Gpus = Dict[str, Dict[str, Any]]
_FIELDS: Dict[str, Tuple[type, ...]] = {
    "index": (int,),
    "uuid": (str,),
    "model": (str,),
    "memory_total_bytes": (int,),
    "links": (dict,),
    "parent": (str, type(None)),
    "make": (str,),
    "gone_since": (int, float, type(None)),
}
# Simulated and listed GPUs are what somebody wrote down: one that is not written down any more did not vanish.
_MAKES = ("nvidia", "amd")


class Learned:
    def __init__(self) -> None:
        self.gpus: Gpus = {}
        self.ecc: Dict[str, int] = {}  # errors counted so far, by the uuid of the whole GPU
        self.troubles: Dict[str, str] = {}


class GpuFile:
    def __init__(self, path: Optional[str]) -> None:
        self._path = path
        self._written: Optional[bytes] = None
        self._is_failing = False

    def read(self) -> Learned:
        learned = Learned()
        try:
            with open(self._path or os.devnull, "rb") as file:
                self._written = file.read()
            told = json.loads(self._written.decode())
            gpus, ecc, troubles = told["cards"], told["ecc"], told["troubles"]
            learned.gpus = {uuid: one for uuid, one in gpus.items() if _is_gpu(one) and one["uuid"] == uuid}
            learned.ecc = _only(ecc, lambda count: type(count) is int)
            learned.troubles = _only(troubles, lambda words: isinstance(words, str))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            if self._written:
                log(f"what was learned of the GPUs cannot be read and is learned anew: {error}")
        return learned

    def write(self, gpus: Gpus, ecc: Dict[str, int], troubles: Dict[str, str]) -> None:
        """Only what differs from what is there."""
        if self._path is None:
            return
        kept = {uuid: {name: gpu[name] for name in _FIELDS} for uuid, gpu in gpus.items() if gpu["make"] in _MAKES}
        told = {"cards": kept, "ecc": ecc, "troubles": troubles}
        data = json.dumps(told, sort_keys=True, separators=(",", ":")).encode()
        if data == self._written:
            return
        try:
            _replace(self._path, data)
        except OSError as error:
            if not self._is_failing:
                log(f"what was learned of the GPUs cannot be kept: {error}")
            self._is_failing = True
            return  # the next reading tries again
        self._written = data
        self._is_failing = False


def _is_gpu(one: Any) -> bool:
    return all(isinstance(one[name], kinds) and not isinstance(one[name], bool) for name, kinds in _FIELDS.items())


def _only(told: Dict[str, Any], is_right: Callable[[Any], bool]) -> Dict[str, Any]:
    return {uuid: value for uuid, value in told.items() if is_right(value)}


def _replace(path: str, data: bytes) -> None:
    fresh = path + ".new"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)  # it changes when GPUs do: seldom enough to wait for the disk
    finally:
        os.close(fd)
    os.replace(fresh, path)
