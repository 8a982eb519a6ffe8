"""One NVIDIA GPU, or one instance of a divided one, through its NVML handle. Errors of the GPU pass through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from tarmac.agent.gpus.gpu_processes import ProcessTable
from tarmac.agent.gpus.sources.source import new_gpu

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu, ProbedProcess


class Instance(NamedTuple):
    """A MIG instance."""

    number: int
    handle: Any


class SlowValues(NamedTuple):
    """Values that rarely change."""

    ecc_errors: Optional[int]
    repair: Optional[str]
    instances: Optional[List[Instance]]  # None: the GPU is not divided


class GpuReader:
    MOST_INSTANCES = 16  # NVML has at most 7 so far

    def __init__(self, nvml: Any, processes: ProcessTable) -> None:
        self._nvml = nvml
        self._process_table = processes
        self.names: Dict[str, str] = {}  # by uuid

    def read(self, index: int, uuid: str, handle: Any, slow: SlowValues) -> ProbedGpu:
        nvml = self._nvml
        if uuid not in self.names:
            self.names[uuid] = nvml.nvmlDeviceGetName(handle)
        total, used = self._memory(handle)
        gpu = new_gpu(index, uuid, self.names[uuid], make="nvidia", total=total, used=used)
        gpu["utilization"] = self._or_none(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        gpu["temperature"] = self.temperature(handle)
        milliwatts = self._or_none(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        gpu["power_w"] = None if milliwatts is None else round(milliwatts / 1000, 1)
        gpu["processes"] = self._processes(handle)
        gpu["ecc_errors"], gpu["repair"] = slow.ecc_errors, slow.repair
        return gpu

    def temperature(self, handle: Any) -> Optional[int]:
        nvml = self._nvml
        found: Optional[int] = self._or_none(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
        return found

    def read_slow(self, handle: Any) -> SlowValues:
        nvml = self._nvml
        errors = self._if_available(
            lambda: nvml.nvmlDeviceGetTotalEccErrors(
                handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
            )
        )
        return SlowValues(errors, self._repair(handle), self._instances(handle))

    def _repair(self, handle: Any) -> Optional[str]:
        nvml = self._nvml
        rows = self._if_available(lambda: nvml.nvmlDeviceGetRemappedRows(handle))
        if rows and rows[3]:
            return "a bad memory row could not be taken out of use: replace the GPU"
        if rows and rows[2]:
            return "a bad memory row is taken out of use at the next reset: reset the GPU"
        if self._if_available(lambda: nvml.nvmlDeviceGetRetiredPagesPendingStatus(handle)):
            return "a bad memory page is taken out of use at the next reset: reset the GPU"
        return None

    def _instances(self, handle: Any) -> Optional[List[Instance]]:
        nvml = self._nvml
        mode = self._if_available(lambda: nvml.nvmlDeviceGetMigMode(handle))
        if not mode or not mode[0]:
            return None
        found = []
        for number in range(min(nvml.nvmlDeviceGetMaxMigDeviceCount(handle), self.MOST_INSTANCES)):
            try:
                found.append(Instance(number, nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)))
            except (nvml.NVMLError_NotFound, nvml.NVMLError_NoPermission):
                continue  # not created, or not permitted
        return found

    def _memory(self, handle: Any) -> Tuple[int, int]:
        """Try version 2 first: the older one counts the driver's reserved memory as used."""
        nvml = self._nvml
        info = self._or_none(lambda: nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2))
        info = info or nvml.nvmlDeviceGetMemoryInfo(handle)
        return info.total, info.used

    def _processes(self, handle: Any) -> List[ProbedProcess]:
        """Return compute and graphics processes. A process in both lists appears once."""
        memory: Dict[int, Optional[int]] = {}
        for kind in ("Compute", "Graphics"):
            for process in self._running(handle, kind):
                known, used = memory.get(process.pid), process.usedGpuMemory
                memory[process.pid] = known if used is None else max(known or 0, used)
        return [{**self._process_table.look_up(pid), "memory_bytes": memory[pid]} for pid in sorted(memory)]

    def _running(self, handle: Any, kind: str) -> Any:
        # _v2: drivers older than 510. The second round: the list grew between reading its size and its content.
        nvml = self._nvml
        for version in ("_v3", "_v2", "_v3", "_v2"):
            fetch = getattr(nvml, f"nvmlDeviceGet{kind}RunningProcesses{version}")
            try:
                return fetch(handle)
            except (nvml.NVMLError_FunctionNotFound, nvml.NVMLError_InsufficientSize):
                continue
            except nvml.NVMLError_NotSupported:
                break
        return []

    def _if_available(self, read: Callable[[], Any]) -> Any:
        """Read a value that is not needed to use the GPU: only a lost GPU raises, every other error is None."""
        nvml = self._nvml
        try:
            return read()
        except (nvml.NVMLError_GpuIsLost, nvml.NVMLError_ResetRequired, nvml.NVMLError_Uninitialized):
            raise
        except nvml.NVMLError:
            return None

    def _or_none(self, read: Callable[[], Any]) -> Any:
        """Read a value that not every GPU has: None if it is not supported. Every other error raises."""
        nvml = self._nvml
        try:
            return read()
        except (nvml.NVMLError_NotSupported, nvml.NVMLError_FunctionNotFound, nvml.NVMLError_ArgumentVersionMismatch):
            return None
