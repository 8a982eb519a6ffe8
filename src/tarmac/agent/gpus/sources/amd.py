"""Reads AMD GPUs from sysfs, a few small files per GPU. `amd_processes` finds the processes on them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Dict, List, Mapping, NamedTuple, Optional

from tarmac.agent.gpus.sources.amd_processes import AmdProcesses
from tarmac.agent.gpus.sources.source import Absent, Reading, SourceContext, new_gpu

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu
    from tarmac.shared.frames.to_controller import GpuMake

_VENDOR = "0x1002"


class Facts(NamedTuple):
    """What does not change about a GPU."""

    uuid: str
    address: str  # PCI
    model: str
    total: int
    hwmon: Optional[str]


class AmdSource:
    make: GpuMake = "amd"
    name = "amd"

    def __init__(self, context: SourceContext, env: Mapping[str, str]) -> None:
        self._context = context
        self._root = env.get("TARMAC_AMD_SYSFS", "/sys/class/drm")
        self._processes = AmdProcesses(self._root)
        self._found = False
        self._facts: Dict[str, Facts] = {}  # by directory

    def read(self) -> Reading:
        self._context.heartbeat.at(self.make)
        folders = find_gpus(self._root)
        self._found = self._found or bool(folders)
        if not self._found:
            raise Absent
        gpus = []
        for index, folder in enumerate(folders):
            if index not in self._context.skip and (self._context.only is None or index in self._context.only):
                gpus.append(self._read_gpu(index, folder))
        self._add_processes(gpus)
        return Reading(gpus)

    def _read_gpu(self, index: int, folder: str) -> ProbedGpu:
        known = self._facts.get(folder)
        self._context.heartbeat.at(self.make, index, known.uuid if known else None)
        facts = known or self._facts.setdefault(folder, _facts(folder))
        used = _number(f"{folder}/mem_info_vram_used")
        gpu = new_gpu(index, facts.uuid, facts.model, make=self.make, total=facts.total, used=used)
        gpu["fault"] = "cannot be read: its files in sysfs do not answer" if used is None else None
        gpu["utilization"] = _number(f"{folder}/gpu_busy_percent")
        if facts.hwmon:
            millidegrees = _number(f"{facts.hwmon}/temp1_input")
            gpu["temperature"] = None if millidegrees is None else round(millidegrees / 1000)
            microwatts = _number(f"{facts.hwmon}/power1_average")
            if microwatts is None:
                microwatts = _number(f"{facts.hwmon}/power1_input")  # newer GPUs have no average
            gpu["power_w"] = None if microwatts is None else round(microwatts / 1_000_000, 1)
        return gpu

    def _add_processes(self, gpus: List[ProbedGpu]) -> None:
        self._context.heartbeat.at(self.make)
        addresses: Dict[Optional[str], str] = {facts.uuid: facts.address for facts in self._facts.values()}
        found = self._processes.read(is_busy=any(gpu["utilization"] for gpu in gpus))
        for gpu in gpus:
            memory = found.get(addresses[gpu["uuid"]], {})
            gpu["processes"] = [
                {**self._context.processes.look_up(pid), "memory_bytes": memory[pid]} for pid in sorted(memory)
            ]
        self._context.processes.prune()


def find_gpus(root: str) -> List[str]:
    """Return the device directories of all discrete AMD GPUs, ordered by PCI address."""
    try:
        names = os.listdir(root)
    except OSError:
        return []
    found = {}
    for name in names:
        folder = os.path.join(root, name, "device")
        if (
            name.startswith("card")
            and name[4:].isdigit()
            and _text(f"{folder}/vendor") == _VENDOR
            and _is_discrete(folder)
        ):
            found[os.path.realpath(folder)] = folder
    return [found[path] for path in sorted(found)]


def _is_discrete(folder: str) -> bool:
    """False for the small GPU inside a processor: it has neither a unique id nor a power limit."""
    if _number(f"{folder}/mem_info_vram_total") is None:
        return False
    hwmon = _hwmon(folder)
    return bool(_unique_id(folder)) or (hwmon is not None and os.path.exists(f"{hwmon}/power1_cap"))


def _facts(folder: str) -> Facts:
    address = os.path.basename(os.path.realpath(folder))
    return Facts(
        uuid=f"AMD-{_unique_id(folder) or address}",
        address=address,
        model=_text(f"{folder}/product_name") or f"AMD {_text(f'{folder}/device') or 'GPU'}",
        total=_number(f"{folder}/mem_info_vram_total") or 0,
        hwmon=_hwmon(folder),
    )


def _unique_id(folder: str) -> Optional[str]:
    found = _text(f"{folder}/unique_id")
    return found if found and found.strip("0") else None


def _hwmon(folder: str) -> Optional[str]:
    try:
        names = sorted(os.listdir(f"{folder}/hwmon"))
    except OSError:
        return None
    return f"{folder}/hwmon/{names[0]}" if names else None


def _number(path: str) -> Optional[int]:
    text = _text(path)
    try:
        return int(text) if text else None
    except ValueError:
        return None


def _text(path: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None
