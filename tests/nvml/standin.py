"""Builds the stand-in for libnvidia-ml.so.1 and writes the state it shows. See world.h for the format."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.services import need

HERE = Path(__file__).parent
GIB = 1024**3
GPU_IS_LOST = 15
DRIVER_NOT_LOADED = 9
VERSION_MISMATCH = 18


@dataclass(frozen=True, kw_only=True)
class Process:
    pid: int
    memory_bytes: int = GIB
    kind: str = "C"  # C compute, G graphics


@dataclass(frozen=True, kw_only=True)
class Gpu:
    uuid: str
    name: str = "NVIDIA Stand-in"
    memory_total_bytes: int = 24 * GIB
    memory_used_bytes: int = 0
    memory_reserved_bytes: int = 0
    utilization: int | None = 0
    temperature: int | None = 30
    power_w: float | None = None
    processes: tuple[Process, ...] = ()
    faults: dict[str, int] = field(default_factory=dict)  # call → NVML error code; "*" is every call
    hangs: tuple[str, ...] = ()  # calls that never return
    ecc_errors: int | None = None  # uncorrected, since the driver was loaded
    is_retiring: bool = False
    is_remapping: bool = False
    has_failed_to_remap: bool = False
    xid: tuple[int, int] | None = None  # serial number of the event, Xid
    near: dict[str, int] = field(default_factory=dict)  # uuid → NVML's topology level
    nvlinks: tuple[str, ...] = ()  # uuids, or "switch"
    instances: tuple["Gpu", ...] | None = None  # not None: in MIG mode

    def lines(self) -> list[str]:
        memory = f"memory {self.memory_total_bytes} {self.memory_used_bytes} {self.memory_reserved_bytes}"
        lines = ["device", f"uuid {self.uuid}", f"name {self.name}", memory]
        lines += [] if self.utilization is None else [f"utilization {self.utilization} 0"]
        lines += [] if self.temperature is None else [f"temperature {self.temperature}"]
        lines += [] if self.power_w is None else [f"power {int(self.power_w * 1000)} 300000"]
        lines += [f"process {p.pid} {p.memory_bytes} {p.kind}" for p in self.processes]
        lines += fault_lines(self.faults, self.hangs) + self._health_lines()
        lines += [f"near {uuid} {level}" for uuid, level in self.near.items()]
        lines += [f"nvlink {other}" for other in self.nvlinks]
        lines += [] if self.instances is None else ["mig"]
        for instance in self.instances or ():
            lines += ["instance", *instance.lines()[1:]]
        return lines

    def _health_lines(self) -> list[str]:
        lines = [] if self.ecc_errors is None else [f"ecc {self.ecc_errors}"]
        lines += [f"retire {self.is_retiring:d}", f"remap {self.is_remapping:d} {self.has_failed_to_remap:d}"]
        return lines + ([] if self.xid is None else [f"xid {self.xid[0]} {self.xid[1]}"])


def fault_lines(faults: dict[str, int], hangs: tuple[str, ...]) -> list[str]:
    return [f"fail {call} {code}" for call, code in faults.items()] + [f"hang {call}" for call in hangs]


class Standin:
    """A machine's driver, as the programs started with `env` see it."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._world = folder / "nvml-world"
        self.env = {"LD_LIBRARY_PATH": str(library.parent), "NVML_STANDIN": str(self._world)}
        self.show()

    def show(
        self,
        *gpus: Gpu,
        faults: dict[str, int] | None = None,
        hangs: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
    ) -> None:
        """Replaces the world in one step; running programs see it at their next call."""
        lines = ["driver 550.54.15", *fault_lines(faults or {}, hangs), *(f"without {name}" for name in without)]
        for gpu in gpus:
            lines += gpu.lines()
        fresh = self._world.with_suffix(".new")
        fresh.write_text("\n".join(lines) + "\n")
        os.replace(fresh, self._world)


def build(folder: Path) -> Path:
    library = folder / "libnvidia-ml.so.1"
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, HERE / "nvml.c"], check=True)
    return library


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("gcc")
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def standin(nvml_library: Path, tmp_path: Path) -> Standin:
    return Standin(nvml_library, tmp_path)
