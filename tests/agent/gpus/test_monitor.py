"""What the agent reports about healthy GPUs: processes, MIG instances, links, power, host memory."""

import signal
from dataclasses import replace

import pytest

from tarmac.agent.procs.host_memory import has_changed, read_memory
from tests.agent.gpus.machine import Machine, health, until
from tests.agent_peer import eventually
from tests.nvml.standin import GIB, Gpu, Process

A, B, C, D = (Gpu(uuid=f"GPU-{letter * 4}") for letter in "abcd")
SAME_SWITCH, SAME_BRIDGE, SAME_SOCKET, FAR = 10, 30, 40, 50


def test_power_and_host_memory_are_reported(machine: Machine):
    machine.driver.show(replace(A, power_w=123.4))
    peer = machine.boot()
    frame = peer.expect("gpus")
    assert (frame["gpus"][0]["power_w"], frame["gpus"][0]["health"], frame["error"]) == (123.4, None, None)
    assert 0 < frame["host"]["memory_available_bytes"] < frame["host"]["memory_total_bytes"]
    assert "fault" not in frame["gpus"][0]


def test_small_changes_of_host_memory_are_not_reported():
    now = read_memory()
    total = now["memory_total_bytes"]
    assert not has_changed({**now, "memory_available_bytes": now["memory_available_bytes"] + total // 200}, now)
    assert has_changed({**now, "memory_available_bytes": now["memory_available_bytes"] + total // 50}, now)


@pytest.mark.parametrize("containment", ["cgroup", "scan"])
@pytest.mark.parametrize("trick", ["", "exec env -i ", "setsid --wait "])
def test_a_process_of_a_job_is_reported_with_its_job_and_a_foreign_one_without(
    machine: Machine, containment: str, trick: str
):
    machine.driver.show(A)
    machine.containment = containment
    peer = machine.boot()
    if peer.hello["containment"] != containment:
        pytest.skip(f"no cgroup here: {peer.hello['containment_reason']}")
    stranger = machine.stranger()
    program = f"{trick}sh -c 'echo $$; while :; do sleep 1; done'"
    peer.start(5, shell=program, stdout=machine.path("log"), attempt=2)
    peer.expect("started", 5)
    worker = int(eventually(lambda: machine.text("log")))
    processes = (Process(pid=worker, memory_bytes=3), Process(pid=stranger.pid, memory_bytes=4))
    machine.driver.show(replace(A, processes=processes))
    gpus = until(peer, lambda gpus: len(gpus["GPU-aaaa"]["processes"]) == 2)
    found = {one["pid"]: (one["job"], one["attempt"]) for one in gpus["GPU-aaaa"]["processes"]}
    assert found == {worker: (5, 2), stranger.pid: (None, None)}
    assert set(gpus["GPU-aaaa"]["processes"][0]) == {
        "pid", "user", "command", "memory_bytes", "started_at", "start_time", "job", "attempt",
    }  # fmt: skip
    peer.signal(5, signal.SIGKILL, 0, attempt=2)
    peer.expect("exited", 5)


def test_a_process_of_a_job_is_reported_with_its_job_after_an_agent_restart(machine: Machine):
    machine.driver.show(A)
    peer = machine.boot()
    peer.start(5, shell="exec sleep 60", stdout=machine.path("log"))
    pid = peer.expect("started", 5)["pid"]
    machine.driver.show(replace(A, processes=(Process(pid=pid),)))
    machine.kill_agent()
    peer = machine.boot()
    gpus = until(peer, lambda gpus: bool(gpus["GPU-aaaa"]["processes"]))
    assert gpus["GPU-aaaa"]["processes"][0]["job"] == 5
    peer.signal(5, signal.SIGKILL, 0)
    peer.expect("exited", 5)


def test_mig_instances_are_separate_gpus(machine: Machine):
    mute = Gpu(uuid="", name="NVIDIA A100 MIG 1g.5gb", memory_total_bytes=5 * GIB, utilization=None, temperature=None)
    parts = (replace(mute, uuid="MIG-1"), replace(mute, uuid="MIG-2"))
    machine.driver.show(A, B)
    peer = machine.boot()
    assert set(until(peer, lambda gpus: len(gpus) == 2)) == {"GPU-aaaa", "GPU-bbbb"}
    machine.driver.show(replace(A, instances=parts, temperature=44, power_w=80), B)
    gpus = until(peer, lambda gpus: "MIG-1" in gpus)
    assert set(gpus) == {"MIG-1", "MIG-2", "GPU-bbbb"}
    first = gpus["MIG-1"]
    assert (first["parent"], first["memory_total_bytes"], first["temperature"]) == ("GPU-aaaa", 5 * GIB, 44)
    assert (first["utilization"], first["power_w"], first["health"]) == (None, None, None)
    assert gpus["GPU-bbbb"]["index"] == 1
    assert len({gpu["index"] for gpu in gpus.values()}) == 3
    machine.driver.show(replace(A, instances=parts, xid=(1, 79)), B)
    gpus = until(peer, lambda gpus: gpus["MIG-2"]["health"] is not None)
    assert gpus["MIG-1"]["health"] == "Xid 79: fell off the bus"
    machine.driver.show(A, B)
    gpus = until(peer, lambda gpus: "GPU-aaaa" in gpus)
    assert gpus["MIG-1"]["health"] == "vanished from the driver"


def test_mig_instances_are_numbered_after_all_whole_gpus_even_while_one_hangs(machine: Machine):
    parts = (Gpu(uuid="MIG-1"), Gpu(uuid="MIG-2"))
    divided = replace(A, instances=parts)
    machine.driver.show(divided, B, C)
    peer = machine.boot()
    numbers = {"GPU-bbbb": 1, "GPU-cccc": 2, "MIG-1": 3, "MIG-2": 4}
    gpus = until(peer, lambda gpus: "MIG-2" in gpus)
    assert [(uuid, gpu["index"]) for uuid, gpu in gpus.items()] == list(numbers.items())
    machine.driver.show(divided, replace(B, hangs=("memory",)), C)
    health(peer, "GPU-bbbb", "does not answer")
    machine.driver.show(divided, replace(B, hangs=("memory",)), replace(C, temperature=77))
    gpus = until(peer, lambda gpus: gpus["GPU-cccc"]["temperature"] == 77)
    assert {uuid: gpu["index"] for uuid, gpu in gpus.items()} == numbers


def test_nearness_of_gpus_is_reported(machine: Machine):
    machine.driver.show(
        replace(A, nvlinks=("GPU-bbbb",), near={"GPU-bbbb": FAR, "GPU-cccc": SAME_SWITCH, "GPU-dddd": SAME_BRIDGE}),
        replace(B, near={"GPU-cccc": SAME_SOCKET, "GPU-dddd": FAR}),
        C,
        D,
    )
    peer = machine.boot()
    gpus = until(peer, lambda gpus: len(gpus) == 4)
    assert gpus["GPU-aaaa"]["links"] == {"GPU-bbbb": 5, "GPU-cccc": 4, "GPU-dddd": 3}
    assert gpus["GPU-bbbb"]["links"] == {"GPU-aaaa": 5, "GPU-cccc": 2, "GPU-dddd": 1}
    assert gpus["GPU-dddd"]["links"] == {"GPU-aaaa": 3, "GPU-bbbb": 1}


def test_gpus_on_one_nvlink_switch_are_all_near(machine: Machine):
    machine.driver.show(*(replace(gpu, nvlinks=("switch", "switch")) for gpu in (A, B, C)), D)
    gpus = until(machine.boot(), lambda gpus: len(gpus) == 4)
    assert gpus["GPU-aaaa"]["links"] == {"GPU-bbbb": 5, "GPU-cccc": 5}
    assert gpus["GPU-dddd"]["links"] == {}


def test_64_gpus_are_read(machine: Machine):
    machine.driver.show(*(Gpu(uuid=f"GPU-{n}", processes=(Process(pid=1),)) for n in range(64)))
    gpus = until(machine.boot(), lambda gpus: len(gpus) == 64)
    assert [gpu["index"] for gpu in gpus.values()] == list(range(64))


def test_configured_gpus_are_listed_beside_real_ones(machine: Machine):
    machine.driver.show(A)
    listed = '[{"index": 0, "model": "Accelerator", "memory": "24G"}, {"model": "Other", "memory": 1024}]'
    gpus = until(machine.boot(TARMAC_LISTED_GPUS=listed), lambda gpus: len(gpus) == 3)
    first, second = gpus["LISTED-0"], gpus["LISTED-1"]
    assert (first["model"], first["memory_total_bytes"], first["make"]) == ("Accelerator", 24 * GIB, "listed")
    assert (first["memory_used_bytes"], first["utilization"], first["health"]) == (None, None, None)
    assert (second["model"], second["memory_total_bytes"]) == ("Other", 1024)
    assert len({gpu["index"] for gpu in gpus.values()}) == 3


def test_an_invalid_list_of_gpus_is_reported(machine: Machine):
    machine.driver.show(faults={"init": 9})
    frame = machine.boot(TARMAC_LISTED_GPUS='[{"memory": "much"}]').expect("gpus")
    assert "'much' is not a size" in frame["error"]
