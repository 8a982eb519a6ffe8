"""The file of what is known about the GPUs: which exist, their error counts, their faults. It outlives the agent.

It is a file and not part of the controller's database so that nothing is lost while the controller is away. It is
replaced as a whole. A torn, foreign or missing file reads as empty: then every GPU counts as new.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Tuple

from tarmac.agent.loop import log

if TYPE_CHECKING:
    from tarmac.shared.frames.to_controller import GpuState

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
# Simulated and configured GPUs are left out: one that is no longer declared did not vanish.
_MAKES = ("nvidia", "amd")


class GpuRecords:
    """The file has the GPUs under the key "cards", as its first version did."""

    def __init__(self) -> None:
        self.gpus: Dict[str, Dict[str, Any]] = {}  # by uuid, with the fields above
        self.ecc: Dict[str, int] = {}  # errors counted so far, by the uuid of the whole GPU
        self.troubles: Dict[str, str] = {}


class GpuHistory:
    def __init__(self, path: Optional[str]) -> None:
        self._path = path
        self._written: Optional[bytes] = None
        self._is_failing = False

    def read(self) -> GpuRecords:
        records = GpuRecords()
        try:
            with open(self._path or os.devnull, "rb") as file:
                self._written = file.read()
            content = json.loads(self._written.decode())
            gpus, ecc, troubles = content["cards"], content["ecc"], content["troubles"]
            records.gpus = {uuid: gpu for uuid, gpu in gpus.items() if _is_gpu(gpu) and gpu["uuid"] == uuid}
            records.ecc = _only(ecc, lambda count: type(count) is int)
            records.troubles = _only(troubles, lambda trouble: isinstance(trouble, str))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            if self._written:
                log(f"cannot read the GPU history, starting a new one: {error}")
        return records

    def write(self, gpus: Mapping[str, GpuState], ecc: Dict[str, int], troubles: Dict[str, str]) -> None:
        """Do nothing if the file already says the same."""
        if self._path is None:
            return
        fields = {uuid: _fields_of(gpu) for uuid, gpu in gpus.items() if gpu["make"] in _MAKES}
        content = {"cards": fields, "ecc": ecc, "troubles": troubles}
        data = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
        if data == self._written:
            return
        try:
            _replace(self._path, data)
        except OSError as error:
            if not self._is_failing:
                log(f"cannot write the GPU history: {error}")
            self._is_failing = True
            return  # the next reading tries again
        self._written = data
        self._is_failing = False


def _fields_of(gpu: Mapping[str, object]) -> Dict[str, object]:
    return {name: gpu[name] for name in _FIELDS}


def _is_gpu(gpu: Any) -> bool:
    return all(isinstance(gpu[name], kinds) and not isinstance(gpu[name], bool) for name, kinds in _FIELDS.items())


def _only(values: Dict[str, Any], is_valid: Callable[[Any], bool]) -> Dict[str, Any]:
    return {uuid: value for uuid, value in values.items() if is_valid(value)}


def _replace(path: str, data: bytes) -> None:
    fresh = path + ".new"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)  # the file changes only when GPUs do, so waiting for the disk is fine
    finally:
        os.close(fd)
    os.replace(fresh, path)
