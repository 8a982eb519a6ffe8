"""A fake /sys/class with AMD GPUs, and a fake amd-smi."""

import json
import os
from pathlib import Path
from typing import Any

GIB = 1024**3


class Sysfs:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.drm = root / "class/drm"
        self.bin = root / "bin"
        self.drm.mkdir(parents=True)
        self.bin.mkdir()

    @property
    def env(self) -> dict[str, str]:
        return {"TARMAC_AMD_SYSFS": str(self.drm), "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def add(
        self, number: int, *, bus: int, unique_id: str | None = None, vendor: str = "0x1002", cap: bool = True
    ) -> Path:
        """Create the device directory of a GPU."""
        device = self.root / f"devices/pci0000:00/0000:{bus:02x}:00.0"
        hwmon = device / "hwmon/hwmon3"
        hwmon.mkdir(parents=True)
        (self.drm / f"card{number}").mkdir()
        (self.drm / f"card{number}/device").symlink_to(device)
        (self.drm / f"card{number}-DP-1").mkdir()
        files = {"vendor": vendor, "product_name": "Instinct MI210", "device": "0x740f", "gpu_busy_percent": "37"}
        files |= {"mem_info_vram_total": str(64 * GIB), "mem_info_vram_used": str(2 * GIB)}
        files |= {"hwmon/hwmon3/temp1_input": "51000", "hwmon/hwmon3/power1_average": "123400000"}
        files |= {"unique_id": unique_id} if unique_id else {}
        files |= {"hwmon/hwmon3/power1_cap": "300000000"} if cap else {}
        for name, text in files.items():
            self.put(device / name, text)
        return device

    def put(self, path: Path, text: str) -> None:
        fresh = path.with_suffix(".new")
        fresh.write_text(text + "\n")
        os.replace(fresh, path)

    def smi(self, **answers: Any) -> None:
        """Set the answer to each command of amd-smi."""
        for verb, answer in answers.items():
            self.put(self.bin / f"{verb}.json", json.dumps(answer))
        script = self.bin / "amd-smi"
        script.write_text(f'#!/bin/sh\ntest "$2" = --json && exec cat {self.bin}/$1.json\n')
        script.chmod(0o755)

    def kfd(self, gpu_id: int, *, bus: int, memory: dict[int, int]) -> None:
        """Create the kernel's list of compute processes."""
        node = self.root / f"class/kfd/kfd/topology/nodes/{gpu_id}"
        node.mkdir(parents=True, exist_ok=True)
        (node / "gpu_id").write_text(f"{gpu_id}\n")
        (node / "properties").write_text(f"simd_count 440\nlocation_id {bus << 8}\ndomain 0\n")
        (self.root / "class/kfd/kfd/proc").mkdir(exist_ok=True)
        for pid, used in memory.items():
            folder = self.root / f"class/kfd/kfd/proc/{pid}"
            folder.mkdir(exist_ok=True)
            (folder / f"vram_{gpu_id}").write_text(f"{used}\n")
