"""Other GPU monitors read the same stand-in and agree with the agent."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.agent.gpus.machine import Machine, until
from tests.nvml.standin import GIB, Gpu, Process
from tests.services import find, need

MIB = 1024**2
NVITOP = """
import json, sys
from nvitop import Device
json.dump([
    dict(index=d.index, uuid=d.uuid(), model=d.name(), memory_used_bytes=d.memory_used(),
         memory_total_bytes=d.memory_total(), utilization=d.gpu_utilization(), temperature=d.temperature(),
         power_w=d.power_usage() / 1000,
         processes=[[p.pid, p.username(), p.gpu_memory()] for p in d.processes().values()])
    for d in Device.all()
], sys.stdout)
"""
FIELDS = ("index", "uuid", "model", "memory_total_bytes", "memory_used_bytes", "utilization", "temperature")


@pytest.fixture
def ours(machine: Machine) -> list[dict[str, Any]]:
    """What the agent reports about two GPUs, one of them in use."""
    used = Process(pid=os.getpid(), memory_bytes=3 * GIB)
    machine.driver.show(
        Gpu(uuid="GPU-aaaa", name="NVIDIA A100-SXM4-80GB", memory_total_bytes=80 * GIB, power_w=60),
        Gpu(uuid="GPU-bbbb", memory_used_bytes=4 * GIB, utilization=37, temperature=51, power_w=120, processes=(used,)),
    )
    return list(until(machine.boot(), lambda gpus: len(gpus) == 2).values())


def run(machine: Machine, *argv: str) -> Any:
    done = subprocess.run(argv, env={**os.environ, **machine.driver.env}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def holders(gpu: dict[str, Any]) -> list[list[Any]]:
    return [[one["pid"], one["user"], one["memory_bytes"]] for one in gpu["processes"]]


def test_nvitop_agrees(machine: Machine, ours: list[dict[str, Any]]):
    need("nvitop")
    python = Path(find("nvitop") or "").parent / "python"
    theirs = run(machine, str(python), "-c", NVITOP)
    fields = (*FIELDS, "power_w")
    assert [[gpu[f] for f in fields] for gpu in theirs] == [[gpu[f] for f in fields] for gpu in ours]
    assert [gpu["processes"] for gpu in theirs] == [holders(gpu) for gpu in ours]


def test_gpustat_agrees(machine: Machine, ours: list[dict[str, Any]]):
    need("gpustat")
    theirs = run(machine, find("gpustat") or "", "--json")["gpus"]
    names = {"model": "name", "utilization": "utilization.gpu", "temperature": "temperature.gpu"}
    for gpu, their in zip(ours, theirs, strict=True):
        assert [gpu[f] for f in ("index", "uuid", *names)] == [their[n] for n in ("index", "uuid", *names.values())]
        assert gpu["memory_used_bytes"] == their["memory.used"] * MIB
        assert gpu["memory_total_bytes"] == their["memory.total"] * MIB
        assert gpu["power_w"] == their["power.draw"]
        found = [[one["pid"], one["username"], one["gpu_memory_usage"] * MIB] for one in their["processes"]]
        assert found == holders(gpu)
