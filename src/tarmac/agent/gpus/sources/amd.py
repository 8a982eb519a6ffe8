"""Reads AMD GPUs from sysfs, a few small files per GPU. Who is on them: see amd_holders."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional

from tarmac.agent.gpus.sources.amd_processes import AmdHolders
from tarmac.agent.gpus.sources.source import Absent, Bench, Gpu, Reading, gpu

_VENDOR = "0x1002"
_SENSORS = {"temperature": ("temp1_input", 1000), "power_w": ("power1_average", 1_000_000)}


class AmdSource:
    make = name = "amd"

    def __init__(self, bench: Bench, env: Mapping[str, str]) -> None:
        self._bench = bench
        self._root = env.get("TARMAC_AMD_SYSFS", "/sys/class/drm")
        self._holders = AmdHolders(self._root)
        self._found = False
        self._facts: Dict[str, Dict[str, Any]] = {}  # by folder: what does not change

    def read(self) -> Reading:
        self._bench.beat.at(self.make)
        folders = find_gpus(self._root)
        self._found = self._found or bool(folders)
        if not self._found:
            raise Absent
        gpus = []
        for index, folder in enumerate(folders):
            if index not in self._bench.skip and (self._bench.only is None or index in self._bench.only):
                gpus.append(self._read_gpu(index, folder))
        self._name_holders(gpus)
        return Reading(gpus)

    def _read_gpu(self, index: int, folder: str) -> Gpu:
        self._bench.beat.at(self.make, index, self._facts.get(folder, {}).get("uuid"))
        facts = self._facts.get(folder) or self._facts.setdefault(folder, _facts(folder))
        used = _number(f"{folder}/mem_info_vram_used")
        one = gpu(index, facts["uuid"], facts["model"], make=self.make, total=facts["total"], used=used)
        one["fault"] = "cannot be read: its files in sysfs do not answer" if used is None else None
        one["utilization"] = _number(f"{folder}/gpu_busy_percent")
        for name, (file, unit) in _SENSORS.items():
            value = _number(f"{facts['hwmon']}/{file}") if facts["hwmon"] else None
            one[name] = None if value is None else round(value / unit, 1)
        if one["power_w"] is None and facts["hwmon"]:
            microwatts = _number(f"{facts['hwmon']}/power1_input")  # newer GPUs have no average
            one["power_w"] = None if microwatts is None else round(microwatts / 1_000_000, 1)
        one["temperature"] = None if one["temperature"] is None else round(one["temperature"])
        return one

    def _name_holders(self, gpus: List[Gpu]) -> None:
        self._bench.beat.at(self.make)
        addresses = {
            one["uuid"]: facts["address"]
            for facts in self._facts.values()
            for one in gpus
            if one["uuid"] == facts["uuid"]
        }
        is_busy = any(one["utilization"] for one in gpus)
        found = self._holders.read(is_busy=is_busy)
        for one in gpus:
            memory = found.get(addresses[one["uuid"]], {})
            one["processes"] = [
                {**self._bench.holders.look_up(pid), "memory_bytes": memory[pid]} for pid in sorted(memory)
            ]
        self._bench.holders.tidy()


def find_gpus(root: str) -> List[str]:
    """The device folders of all discrete AMD GPUs, in the order of their PCI addresses."""
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
    """Not the small one inside a processor, which nobody wants a job on: that has neither number nor power limit."""
    if _number(f"{folder}/mem_info_vram_total") is None:
        return False
    hwmon = _hwmon(folder)
    return bool(_unique_id(folder)) or (hwmon is not None and os.path.exists(f"{hwmon}/power1_cap"))


def _facts(folder: str) -> Dict[str, Any]:
    address = os.path.basename(os.path.realpath(folder))
    return {
        "uuid": f"AMD-{_unique_id(folder) or address}",
        "address": address,
        "model": _text(f"{folder}/product_name") or f"AMD {_text(f'{folder}/device') or 'GPU'}",
        "total": _number(f"{folder}/mem_info_vram_total") or 0,
        "hwmon": _hwmon(folder),
    }


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
