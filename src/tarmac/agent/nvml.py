"""Reads NVIDIA GPUs through NVML. Any call may hang with the driver, so only the probe process imports this."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from tarmac.agent.holders import Holders

Gpu = Dict[str, Any]

HELP = {
    "LIBRARY_NOT_FOUND": "no NVIDIA driver: libnvidia-ml.so.1 was not found",
    "DRIVER_NOT_LOADED": "the NVIDIA driver is installed but not loaded (`modprobe nvidia`, as root, tells why)",
    "LIB_RM_VERSION_MISMATCH": "the NVIDIA driver was updated while the old one is loaded: reboot the machine",
    "NO_PERMISSION": "the NVIDIA driver refuses this user: see the permissions of /dev/nvidiactl and /dev/nvidia*",
}


class NoNvml(Exception):
    """There is no driver to talk to; the text says what to do."""


def start() -> Any:
    """The pynvml module, initialised."""
    try:
        import pynvml
    except ImportError:
        raise NoNvml("the Python module pynvml is missing (package nvidia-ml-py): install Tarmac again") from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        for name, words in HELP.items():
            if error.value == getattr(pynvml, "NVML_ERROR_" + name):
                raise NoNvml(words) from None
        raise NoNvml(f"NVML does not start: {error}") from None
    return pynvml


def read_gpus(nvml: Any, holders: Holders) -> Tuple[List[Gpu], List[str]]:
    """The cards that answer, and one line for each that does not. Raises NoNvml when the driver itself is gone."""
    try:
        count = nvml.nvmlDeviceGetCount()
    except nvml.NVMLError as error:
        raise NoNvml(f"NVML lost its driver: {error}") from None
    gpus, faults = [], []
    for index in range(count):
        try:
            gpus.append(_read_gpu(nvml, index, holders))
        except nvml.NVMLError as error:
            # Left out rather than shown half: nobody may book a card that cannot be read.
            faults.append(f"GPU {index} cannot be read: {error}")
    return gpus, faults


def _read_gpu(nvml: Any, index: int, holders: Holders) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    total, used = _memory(nvml, handle)
    return {
        "index": index,
        "uuid": nvml.nvmlDeviceGetUUID(handle),
        "model": nvml.nvmlDeviceGetName(handle),
        "memory_total_bytes": total,
        "memory_used_bytes": used,
        "utilization": _or(nvml, None, lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu),
        "temperature": _or(nvml, None, lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        "power_w": _power(nvml, handle),
        "health": None,
        "links": {},
        "parent": None,
        "make": "nvidia",
        "processes": _processes(nvml, handle, holders),
    }


def _power(nvml: Any, handle: Any) -> Optional[float]:
    milliwatts = _or(nvml, None, lambda: nvml.nvmlDeviceGetPowerUsage(handle))
    return None if milliwatts is None else round(milliwatts / 1000, 1)


def _memory(nvml: Any, handle: Any) -> Tuple[int, int]:
    """Version 2 first: the older one counts what the driver keeps for itself as used."""
    info = _or(nvml, None, lambda: nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2))
    info = info or nvml.nvmlDeviceGetMemoryInfo(handle)
    return info.total, info.used


def _processes(nvml: Any, handle: Any, holders: Holders) -> List[Dict[str, Any]]:
    """Compute and graphics together: a process in both lists appears once."""
    memory: Dict[int, int] = {}
    for kind in ("Compute", "Graphics"):
        for process in _running(nvml, handle, kind):
            memory[process.pid] = max(memory.get(process.pid, 0), process.usedGpuMemory or 0)
    return [{**holders.look_up(pid), "memory_bytes": memory[pid]} for pid in sorted(memory)]


def _running(nvml: Any, handle: Any, kind: str) -> Any:
    # _v2: drivers older than 510. The second round: the list grew between asking for its size and reading it.
    for version in ("_v3", "_v2", "_v3", "_v2"):
        fetch = getattr(nvml, f"nvmlDeviceGet{kind}RunningProcesses{version}")
        try:
            return fetch(handle)
        except (nvml.NVMLError_FunctionNotFound, nvml.NVMLError_InsufficientSize):
            continue
        except nvml.NVMLError_NotSupported:
            break
    return []


def _or(nvml: Any, instead: Any, read: Callable[[], Any]) -> Any:
    """What a card does not offer is no fault of it; every other error is."""
    try:
        return read()
    except (nvml.NVMLError_NotSupported, nvml.NVMLError_FunctionNotFound, nvml.NVMLError_ArgumentVersionMismatch):
        return instead
