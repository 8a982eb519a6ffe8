"""Reads NVIDIA GPUs through NVML. Any call may hang with the driver, so only the probe process imports this.

Values that do not change are read once per GPU and uuid. The uuid itself is read every time: after a driver reload,
the same index may belong to another GPU.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple

from tarmac.agent.gpus.sources.nvml_gpu import GpuReader, SlowValues
from tarmac.agent.gpus.sources.source import Absent, Reading, SourceContext, new_gpu
from tarmac.agent.gpus.topology import Links, read_links
from tarmac.agent.gpus.xid import XidWatch

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu
    from tarmac.shared.frames.to_controller import GpuMake

HELP = {
    "LIBRARY_NOT_FOUND": "no NVIDIA driver: libnvidia-ml.so.1 was not found",
    "DRIVER_NOT_LOADED": "the NVIDIA driver is installed but not loaded (run `modprobe nvidia` as root to see why)",
    "LIB_RM_VERSION_MISMATCH": "the NVIDIA driver was updated while the old one was loaded: reboot the machine",
    "NO_PERMISSION": "the NVIDIA driver refuses this user: check the permissions of /dev/nvidiactl and /dev/nvidia*",
}
_GONE = ("UNINITIALIZED", "DRIVER_NOT_LOADED", "LIB_RM_VERSION_MISMATCH")


class _Device(NamedTuple):
    number: int  # its index
    uuid: Optional[str]
    handle: Any
    fault: Optional[str]


class _Linked(NamedTuple):
    uuid: str
    number: int
    handle: Any


def start() -> Any:
    """Import and initialise pynvml."""
    try:
        import pynvml
    except ImportError:
        raise Absent("the Python module pynvml is missing (package nvidia-ml-py): reinstall Tarmac") from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        for name, words in HELP.items():
            if error.value == getattr(pynvml, "NVML_ERROR_" + name):
                raise Absent(words) from None
        raise Absent(f"NVML does not start: {error}") from None
    return pynvml


class NvmlSource:
    make: GpuMake = "nvidia"
    name = "nvml"

    def __init__(self, context: SourceContext) -> None:
        self._context = context
        self._nvml: Any = None
        self._reader: GpuReader
        self._xids: XidWatch
        self._slow: Dict[str, SlowValues] = {}  # by uuid
        self._slow_due = 0.0
        self._links: Links = {}
        self._linked: Dict[str, int] = {}  # uuid → index, when the links were read

    def read(self) -> Reading:
        self._begin()
        count, devices = self._devices()
        if time.monotonic() >= self._slow_due:
            self._slow.clear()
            self._slow_due = time.monotonic() + self._context.slow_s
        gpus: List[ProbedGpu] = []
        divided: List[str] = []
        for device in devices:
            if device.uuid is None:
                gpus.append(new_gpu(device.number, None, "", make=self.make, fault=device.fault))
            else:
                gpus += self._read_gpu(device.number, device.uuid, device.handle, count, divided)
        self._link(
            [_Linked(device.uuid, device.number, device.handle) for device in devices if device.uuid is not None]
        )
        for gpu in gpus:
            gpu["links"] = self._links.get(gpu["uuid"] or "", {})
        self._context.processes.prune()
        self._context.heartbeat.at(self.make)
        return Reading(gpus, divided, self._xids.collect())

    def _begin(self) -> None:
        if self._nvml is None:
            self._context.heartbeat.at(self.make + "-start")
            self._nvml = start()
            self._reader = GpuReader(self._nvml, self._context.processes)
            self._xids = XidWatch(self._nvml)

    def _devices(self) -> Tuple[int, List[_Device]]:
        """Return the number of GPUs, and those that are not to be skipped."""
        nvml, context = self._nvml, self._context
        context.heartbeat.at(self.make)
        try:
            count = nvml.nvmlDeviceGetCount()
        except nvml.NVMLError as error:
            raise Absent(f"NVML lost its driver: {error}") from None
        found: List[_Device] = []
        skipped = dict(context.skip)
        for index in range(count):
            if index in context.skip or (context.only is not None and index not in context.only):
                continue
            context.heartbeat.at(self.make, index)
            try:
                handle = nvml.nvmlDeviceGetHandleByIndex(index)
                uuid = nvml.nvmlDeviceGetUUID(handle)
            except nvml.NVMLError as error:
                found.append(_Device(index, None, None, self._fault(error)))
                continue
            if not self._has_moved(index, uuid):
                found.append(_Device(index, uuid, handle, None))
        return (count, found) if context.skip == skipped else self._devices()

    def _has_moved(self, index: int, uuid: str) -> bool:
        """True if a GPU to be skipped got another index. Its old index then belongs to another GPU."""
        for old, skipped in list(self._context.skip.items()):
            if skipped == uuid and old != index:
                del self._context.skip[old]
                self._context.skip[index] = uuid
                return True
        return False

    def _read_gpu(self, index: int, uuid: str, handle: Any, count: int, divided: List[str]) -> List[ProbedGpu]:
        nvml, reader = self._nvml, self._reader
        self._context.heartbeat.at(self.make, index, uuid)
        try:
            self._xids.add(handle, uuid, index)
            if uuid not in self._slow:
                self._slow[uuid] = reader.read_slow(handle)
            slow = self._slow[uuid]
            if slow.instances is None:
                return [reader.read(index, uuid, handle, slow)]
            divided.append(uuid)
            # After all whole GPUs, so that those keep the indices that every other tool gives them.
            first = count + index * reader.MOST_INSTANCES
            return [
                self._read_instance(first + instance.number, instance.handle, uuid, handle, slow)
                for instance in slow.instances
            ]
        except nvml.NVMLError as error:
            return [new_gpu(index, uuid, reader.names.get(uuid, ""), make=self.make, fault=self._fault(error))]

    def _read_instance(self, index: int, instance: Any, parent: str, handle: Any, slow: SlowValues) -> ProbedGpu:
        uuid = self._nvml.nvmlDeviceGetUUID(instance)
        gpu = self._reader.read(index, uuid, instance, slow)
        # NVML measures the power of the whole GPU only.
        return {**gpu, "parent": parent, "power_w": None, "temperature": self._reader.temperature(handle)}

    def _link(self, gpus: List[_Linked]) -> None:
        """Read the links again when a GPU has appeared, vanished or moved."""
        indices = {gpu.uuid: gpu.number for gpu in gpus}
        if indices != self._linked:
            self._linked = indices
            self._links = read_links(
                self._nvml,
                [(gpu.uuid, gpu.handle) for gpu in gpus],
                lambda uuid: self._context.heartbeat.at(self.make, indices[uuid], uuid),
            )

    def _fault(self, error: Any) -> str:
        """Raises Absent when the driver fails, not the GPU."""
        if any(error.value == getattr(self._nvml, "NVML_ERROR_" + name) for name in _GONE):
            raise Absent(f"NVML lost its driver: {error}")
        return f"cannot be read: {error}"
