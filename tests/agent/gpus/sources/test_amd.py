"""AMD GPUs, read from a fake sysfs tree and a fake amd-smi."""

from pathlib import Path

import pytest

from tests.agent.gpus.machine import Machine, until
from tests.agent.gpus.sources.sysfs import GIB, Sysfs
from tests.nvml.standin import Gpu, Standin

NO_NVIDIA = {"init": 12}


@pytest.fixture
def sysfs(tmp_path: Path, standin: Standin) -> Sysfs:
    standin.show(faults=NO_NVIDIA)
    return Sysfs(tmp_path / "sys")


def test_gpus_are_ordered_by_pci_address(machine: Machine, sysfs: Sysfs):
    sysfs.add(0, bus=0xC3, unique_id="bbbb")
    device = sysfs.add(1, bus=0x03, unique_id="aaaa")
    peer = machine.boot(**sysfs.env)
    frame = peer.expect("gpus")
    assert (frame["error"], frame["source"]) == (None, "amd")
    first, second = frame["gpus"]
    assert (first["uuid"], first["index"], first["make"]) == ("AMD-aaaa", 0, "amd")
    assert (first["model"], first["memory_total_bytes"], first["memory_used_bytes"]) == (
        "Instinct MI210",
        64 * GIB,
        2 * GIB,
    )
    assert (first["utilization"], first["temperature"], first["power_w"]) == (37, 51, 123.4)
    assert (first["health"], first["links"], first["processes"]) == (None, {}, [])
    assert (second["uuid"], second["index"]) == ("AMD-bbbb", 1)
    sysfs.put(device / "mem_info_vram_used", "7")
    until(peer, lambda gpus: gpus["AMD-aaaa"]["memory_used_bytes"] == 7)


def test_integrated_gpus_and_other_makes_are_left_out(machine: Machine, sysfs: Sysfs):
    sysfs.add(0, bus=1, unique_id="aaaa", vendor="0x8086")
    sysfs.add(1, bus=2, cap=False)
    sysfs.add(2, bus=3)
    (gpu,) = machine.boot(**sysfs.env).expect("gpus")["gpus"]
    assert gpu["uuid"] == "AMD-0000:03:00.0"  # too old to have a unique id


def test_without_any_gpu_the_reason_is_the_missing_nvidia_driver(machine: Machine, sysfs: Sysfs):
    assert "no NVIDIA driver" in machine.boot(**sysfs.env).expect("gpus")["error"]


def test_two_makes_in_one_machine_have_distinct_indices(machine: Machine, sysfs: Sysfs):
    sysfs.add(0, bus=3, unique_id="aaaa")
    machine.driver.show(Gpu(uuid="GPU-aaaa"))
    gpus = until(machine.boot(**sysfs.env), lambda gpus: len(gpus) == 2)
    assert {uuid: gpu["index"] for uuid, gpu in gpus.items()} == {"GPU-aaaa": 0, "AMD-aaaa": 1}


def test_a_gpu_with_unreadable_files_is_reported_and_a_removed_one_has_vanished(machine: Machine, sysfs: Sysfs):
    sysfs.add(0, bus=3, unique_id="aaaa")
    device = sysfs.add(1, bus=4, unique_id="bbbb")
    peer = machine.boot(**sysfs.env)
    until(peer, lambda gpus: len(gpus) == 2)
    (device / "mem_info_vram_used").unlink()
    until(peer, lambda gpus: "cannot be read" in (gpus["AMD-bbbb"]["health"] or ""))
    (sysfs.drm / "card1/device").unlink()
    gpus = until(peer, lambda gpus: gpus["AMD-bbbb"]["health"] == "vanished from the driver")
    assert gpus["AMD-aaaa"]["health"] is None


def test_processes_come_from_amd_smi(machine: Machine, sysfs: Sysfs):
    sysfs.add(0, bus=3, unique_id="aaaa")
    sysfs.add(1, bus=4, unique_id="bbbb")
    stranger = machine.stranger()
    memory = {"gtt_mem": {"value": 5, "unit": "B"}, "vram_mem": {"value": 3, "unit": "GB"}}
    info = {"name": "python", "pid": stranger.pid, "memory_usage": memory}
    sysfs.smi(
        list=[{"gpu": 0, "bdf": "0000:04:00.0"}, {"gpu": 1, "bdf": "0000:03:00.0"}],
        process=[
            {"gpu": 0, "process_list": [{"process_info": info}]},
            {"gpu": 1, "process_list": [{"process_info": "No running processes detected"}]},
        ],
    )
    gpus = until(machine.boot(**sysfs.env), lambda gpus: bool(gpus["AMD-bbbb"]["processes"]))
    (holder,) = gpus["AMD-bbbb"]["processes"]
    assert (holder["pid"], holder["memory_bytes"], holder["job"]) == (stranger.pid, 3 * GIB, None)
    assert "signal.pause" in holder["command"]
    assert gpus["AMD-aaaa"]["processes"] == []


def test_invalid_output_of_amd_smi_is_ignored(machine: Machine, sysfs: Sysfs):
    device = sysfs.add(0, bus=3, unique_id="aaaa")
    sysfs.smi(list={"error": "no"}, process="nonsense")
    peer = machine.boot(**sysfs.env)
    until(peer, lambda gpus: len(gpus) == 1)
    sysfs.put(device / "gpu_busy_percent", "99")
    gpus = until(peer, lambda gpus: gpus["AMD-aaaa"]["utilization"] == 99)
    assert (set(gpus), gpus["AMD-aaaa"]["processes"], gpus["AMD-aaaa"]["health"]) == ({"AMD-aaaa"}, [], None)


def test_amd_smi_is_not_used_where_the_kernel_lists_processes(machine: Machine, sysfs: Sysfs):
    sysfs.add(0, bus=0x83, unique_id="aaaa")
    stranger = machine.stranger()
    sysfs.kfd(51140, bus=0x83, memory={stranger.pid: 9 * GIB})
    gpus = until(machine.boot(**sysfs.env), lambda gpus: bool(gpus["AMD-aaaa"]["processes"]))
    assert [(one["pid"], one["memory_bytes"]) for one in gpus["AMD-aaaa"]["processes"]] == [(stranger.pid, 9 * GIB)]
