"""Finds the processes on AMD GPUs: from the kernel's list of compute processes, otherwise from amd-smi.

amd-smi takes most of a second of processor time, so it runs beside the readings and only occasionally.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from typing import IO, Any, Dict, List, Optional, Tuple

BUSY_S = 10.0  # between two runs of amd-smi while a GPU works
IDLE_S = 60.0
PATIENCE_S = 20.0

Memory = Dict[str, Dict[int, Optional[int]]]  # PCI address → pid → bytes
_UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}


class AmdProcesses:
    def __init__(self, drm_root: str) -> None:
        self._kfd = os.path.join(os.path.dirname(drm_root.rstrip("/")), "kfd", "kfd")
        self._smi = Smi()

    def read(self, *, is_busy: bool) -> Memory:
        found = read_kfd(self._kfd)
        return self._smi.read(BUSY_S if is_busy else IDLE_S) if found is None else found


def read_kfd(root: str) -> Optional[Memory]:
    """None if the kernel has no such list."""
    try:
        pids = os.listdir(f"{root}/proc")
        nodes = os.listdir(f"{root}/topology/nodes")
    except OSError:
        return None
    found: Memory = {}
    addresses = {gpu: address for gpu, address in (_node(f"{root}/topology/nodes/{node}") for node in nodes) if gpu}
    for pid in pids:
        for gpu, address in addresses.items():
            used = _first_line(f"{root}/proc/{pid}/vram_{gpu}")
            if pid.isdigit() and used.isdigit() and int(used):
                found.setdefault(address, {})[int(pid)] = int(used)
    return found


def _node(folder: str) -> Tuple[str, str]:
    """Return the id the list uses for a GPU (empty for a processor), and its PCI address."""
    gpu = _first_line(f"{folder}/gpu_id")
    values: Dict[str, int] = {}
    try:
        with open(f"{folder}/properties", encoding="ascii") as file:
            for line in file:
                name, _, value = line.partition(" ")
                if name in ("location_id", "domain"):
                    values[name] = int(value)
    except (OSError, ValueError):
        return "", ""
    at = values.get("location_id", 0)
    address = f"{values.get('domain', 0):04x}:{at >> 8 & 0xFF:02x}:{at >> 3 & 0x1F:02x}.{at & 7}"
    return (gpu if gpu.strip("0") else ""), address


class Smi:
    """amd-smi in the background: a reading uses the output of the last completed run."""

    def __init__(self) -> None:
        self._latest: Memory = {}
        self._addresses: Optional[Dict[int, str]] = None
        self._run: Optional[subprocess.Popen[bytes]] = None
        self._output: Optional[IO[bytes]] = None
        self._started_at = float("-inf")
        self._is_missing = False

    def read(self, pace_s: float) -> Memory:
        if self._run is not None:
            self._collect()
        if self._run is None and not self._is_missing and self._is_due(pace_s):
            self._start("list" if self._addresses is None else "process")
        return self._latest

    def _is_due(self, pace_s: float) -> bool:
        return time.monotonic() - self._started_at >= pace_s

    def _start(self, verb: str) -> None:
        self._started_at = time.monotonic()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  read once the program has ended
        try:
            self._run = subprocess.Popen(
                ["amd-smi", verb, "--json"],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            self._is_missing = True

    def _collect(self) -> None:
        assert self._run is not None
        assert self._output is not None
        if self._run.poll() is None:
            if self._is_due(PATIENCE_S):
                self._run.kill()
            return
        self._run = None
        self._output.seek(0)
        try:
            output = json.loads(self._output.read().decode("utf-8", "replace"))
        except ValueError:
            return
        if self._addresses is None:
            self._addresses = addresses_of(output)
            self._started_at = float("-inf")  # the list only serves to interpret the processes: ask for them at once
        else:
            self._latest = processes_of(output, self._addresses)


def addresses_of(output: Any) -> Dict[int, str]:
    return {int(gpu["gpu"]): str(gpu["bdf"]).lower() for gpu in _gpus(output) if "gpu" in gpu and "bdf" in gpu}


def processes_of(output: Any, addresses: Dict[int, str]) -> Memory:
    found: Memory = {}
    for gpu in _gpus(output):
        address = addresses.get(int(gpu.get("gpu", -1)))
        for entry in gpu.get("process_list", ()) if address else ():
            info = entry.get("process_info") if isinstance(entry, dict) else None
            if isinstance(info, dict) and "pid" in info:  # otherwise a sentence that says so
                found.setdefault(str(address), {})[int(info["pid"])] = _bytes(info)
    return found


def _gpus(output: Any) -> List[Dict[str, Any]]:
    """Some versions wrap the list."""
    if isinstance(output, dict):
        output = next((value for value in output.values() if isinstance(value, list)), [])
    return [entry for entry in output if isinstance(entry, dict)] if isinstance(output, list) else []


def _bytes(info: Dict[str, Any]) -> Optional[int]:
    usage = info.get("memory_usage")
    value = usage.get("vram_mem") if isinstance(usage, dict) else info.get("mem_usage")
    if isinstance(value, dict):
        number, unit = value.get("value"), str(value.get("unit", "B")).upper()
        return int(number) * _UNITS.get(unit, 1) if isinstance(number, (int, float)) else None
    return int(value) if isinstance(value, int) else None


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""
