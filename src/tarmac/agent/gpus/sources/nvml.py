"""Reads NVIDIA GPUs through NVML. Any call may hang with the driver, so only the probe process imports this.

What does not change is read once per GPU and uuid. The uuid itself is asked for at every reading: after a driver was
loaded anew, the same number may be another GPU.
"""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional, Tuple

from tarmac.agent.gpus.sources.nvml_gpu import GpuReader, Slow
from tarmac.agent.gpus.sources.source import Absent, Bench, Gpu, Reading, gpu
from tarmac.agent.gpus.topology import Links, read_links
from tarmac.agent.gpus.xid import XidWatch

HELP = {
    "LIBRARY_NOT_FOUND": "no NVIDIA driver: libnvidia-ml.so.1 was not found",
    "DRIVER_NOT_LOADED": "the NVIDIA driver is installed but not loaded (`modprobe nvidia`, as root, tells why)",
    "LIB_RM_VERSION_MISMATCH": "the NVIDIA driver was updated while the old one is loaded: reboot the machine",
    "NO_PERMISSION": "the NVIDIA driver refuses this user: see the permissions of /dev/nvidiactl and /dev/nvidia*",
}
_GONE = ("UNINITIALIZED", "DRIVER_NOT_LOADED", "LIB_RM_VERSION_MISMATCH")


def start() -> Any:
    """The pynvml module, initialised."""
    try:
        import pynvml
    except ImportError:
        raise Absent("the Python module pynvml is missing (package nvidia-ml-py): install Tarmac again") from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        for name, words in HELP.items():
            if error.value == getattr(pynvml, "NVML_ERROR_" + name):
                raise Absent(words) from None
        raise Absent(f"NVML does not start: {error}") from None
    return pynvml


class NvmlSource:
    make = "nvidia"
    name = "nvml"

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._nvml: Any = None
        self._reader: GpuReader
        self._xids: XidWatch
        self._slow: Dict[str, Slow] = {}  # by uuid
        self._slow_due = 0.0
        self._links: Links = {}
        self._linked: List[Tuple[str, int]] = []

    def read(self) -> Reading:
        self._begin()
        count, found = self._handles()
        if time.monotonic() >= self._slow_due:
            self._slow.clear()
            self._slow_due = time.monotonic() + self._bench.slow_s
        gpus: List[Gpu] = []
        divided: List[str] = []
        for index, uuid, handle, fault in found:
            if uuid is None:
                gpus.append(gpu(index, None, "", make=self.make, fault=fault))
            else:
                gpus += self._read_gpu(index, uuid, handle, count, divided)
        self._link([(uuid, index, handle) for index, uuid, handle, _ in found if uuid is not None])
        for one in gpus:
            one["links"] = self._links.get(one["uuid"] or "", {})
        self._bench.holders.tidy()
        self._bench.beat.at(self.make)
        return Reading(gpus, divided, self._xids.collect())

    def _begin(self) -> None:
        if self._nvml is None:
            self._bench.beat.at(self.make + "-start")
            self._nvml = start()
            self._reader = GpuReader(self._nvml, self._bench.holders)
            self._xids = XidWatch(self._nvml)

    def _handles(self) -> Tuple[int, List[Tuple[int, Optional[str], Any, Optional[str]]]]:
        """How many GPUs there are; index, uuid, handle and what is wrong, of each that is not to be left alone."""
        nvml, bench = self._nvml, self._bench
        bench.beat.at(self.make)
        try:
            count = nvml.nvmlDeviceGetCount()
        except nvml.NVMLError as error:
            raise Absent(f"NVML lost its driver: {error}") from None
        found: List[Tuple[int, Optional[str], Any, Optional[str]]] = []
        skipped = dict(bench.skip)
        for index in range(count):
            if index in bench.skip or (bench.only is not None and index not in bench.only):
                continue
            bench.beat.at(self.make, index)
            try:
                handle = nvml.nvmlDeviceGetHandleByIndex(index)
                uuid = nvml.nvmlDeviceGetUUID(handle)
            except nvml.NVMLError as error:
                found.append((index, None, None, self._fault(error)))
                continue
            if not self._has_moved(index, uuid):
                found.append((index, uuid, handle, None))
        return (count, found) if bench.skip == skipped else self._handles()

    def _has_moved(self, index: int, uuid: str) -> bool:
        """Whether it is a GPU to be left alone that got another number; then the old number is another GPU's."""
        for old, skipped in list(self._bench.skip.items()):
            if skipped == uuid and old != index:
                del self._bench.skip[old]
                self._bench.skip[index] = uuid
                return True
        return False

    def _read_gpu(self, index: int, uuid: str, handle: Any, count: int, divided: List[str]) -> List[Gpu]:
        nvml, reader = self._nvml, self._reader
        self._bench.beat.at(self.make, index, uuid)
        try:
            self._xids.add(handle, uuid, index)
            if uuid not in self._slow:
                self._slow[uuid] = reader.read_slow(handle)
            slow = self._slow[uuid]
            if slow.instances is None:
                return [reader.read(index, uuid, handle, slow)]
            divided.append(uuid)
            # After all whole GPUs, so that those keep the numbers that every other tool gives them.
            first = count + index * reader.MOST_INSTANCES
            return [self._read_instance(first + n, part, uuid, handle, slow) for n, part in slow.instances]
        except nvml.NVMLError as error:
            return [gpu(index, uuid, reader.names.get(uuid, ""), make=self.make, fault=self._fault(error))]

    def _read_instance(self, index: int, part: Any, parent: str, handle: Any, slow: Slow) -> Gpu:
        uuid = self._nvml.nvmlDeviceGetUUID(part)
        one = self._reader.read(index, uuid, part, slow)
        # Its power cannot be told from the other instances'.
        return {**one, "parent": parent, "power_w": None, "temperature": self._reader.temperature(handle)}

    def _link(self, gpus: List[Tuple[str, int, Any]]) -> None:
        now = [(uuid, index) for uuid, index, _ in gpus]
        if now != self._linked:
            self._linked = now
            indices = dict(now)
            self._links = read_links(
                self._nvml,
                [(uuid, handle) for uuid, _, handle in gpus],
                lambda uuid: self._bench.beat.at(self.make, indices[uuid], uuid),
            )

    def _fault(self, error: Any) -> str:
        """Raises Absent when it is not the GPU but the driver."""
        if any(error.value == getattr(self._nvml, "NVML_ERROR_" + name) for name in _GONE):
            raise Absent(f"NVML lost its driver: {error}")
        return f"cannot be read: {error}"
