"""GPUs that fail, hang, vanish or break: the others are not affected, and each fault is reported."""

from dataclasses import replace

from tests.agent.gpus.machine import Machine, health, until
from tests.nvml.standin import DRIVER_NOT_LOADED, GIB, GPU_IS_LOST, Gpu, Process

A = Gpu(uuid="GPU-aaaa", memory_used_bytes=5 * GIB)
B = Gpu(uuid="GPU-bbbb")
FALLEN_OFF = 79
A_PROGRAMS_FAULT = 31


def test_a_failing_gpu_stays_listed_with_its_last_values(machine: Machine):
    machine.driver.show(A, B)
    peer = machine.boot()
    health(peer, "GPU-aaaa", None)
    machine.driver.show(replace(A, faults={"memory": GPU_IS_LOST}), B)
    gpus = health(peer, "GPU-aaaa", "cannot be read: GPU is lost")
    assert gpus["GPU-aaaa"]["memory_used_bytes"] == 5 * GIB
    assert gpus["GPU-bbbb"]["health"] is None
    machine.driver.show(A, B)
    health(peer, "GPU-aaaa", None)


def test_a_gpu_without_a_readable_uuid_is_known_by_its_index(machine: Machine):
    machine.driver.show(A, B)
    peer = machine.boot()
    health(peer, "GPU-aaaa", None)
    machine.driver.show(replace(A, faults={"*": GPU_IS_LOST}), B)
    assert set(health(peer, "GPU-aaaa", "GPU is lost")) == {"GPU-aaaa", "GPU-bbbb"}


def test_a_gpu_that_vanishes_stays_in_the_list_and_the_others_are_known_by_uuid(machine: Machine):
    machine.driver.show(A, B)
    peer = machine.boot()
    health(peer, "GPU-bbbb", None)
    machine.driver.show(replace(B, memory_used_bytes=7))
    gpus = health(peer, "GPU-aaaa", "vanished from the driver")
    assert (gpus["GPU-bbbb"]["index"], gpus["GPU-bbbb"]["memory_used_bytes"]) == (0, 7)
    machine.driver.show(A, B)
    assert health(peer, "GPU-aaaa", None)["GPU-bbbb"]["index"] == 1


def test_a_reloaded_driver_may_renumber_gpus(machine: Machine):
    machine.driver.show(A, B)
    peer = machine.boot()
    health(peer, "GPU-aaaa", None)
    machine.driver.show(A, B, faults={"count": 999, "init": DRIVER_NOT_LOADED})
    gpus = health(peer, "GPU-aaaa", "its driver is gone")
    assert "NVML lost its driver" in gpus["GPU-aaaa"]["error"]
    machine.driver.show(B, A)
    gpus = health(peer, "GPU-aaaa", None)
    assert [gpus[uuid]["index"] for uuid in ("GPU-aaaa", "GPU-bbbb")] == [1, 0]
    assert gpus["GPU-aaaa"]["error"] is None


def test_a_hanging_gpu_does_not_affect_the_others_and_comes_back_when_it_answers(machine: Machine):
    machine.driver.show(A, B)
    peer = machine.boot()
    health(peer, "GPU-aaaa", None)
    machine.driver.show(replace(A, hangs=("*",)), B)
    gpus = health(peer, "GPU-aaaa", "does not answer")
    assert (gpus["GPU-aaaa"]["memory_used_bytes"], gpus["GPU-bbbb"]["health"]) == (5 * GIB, None)
    machine.driver.show(replace(A, hangs=("*",)), replace(B, memory_used_bytes=9))
    gpus = until(peer, lambda gpus: gpus["GPU-bbbb"]["memory_used_bytes"] == 9)
    assert gpus["GPU-aaaa"]["health"] == "does not answer"
    machine.driver.show(A, replace(B, memory_used_bytes=10))
    health(peer, "GPU-aaaa", None)


def test_a_gpu_that_hangs_from_the_start_does_not_hide_the_others(machine: Machine):
    machine.driver.show(replace(A, hangs=("*",)), B)
    gpus = health(machine.boot(), "GPU-bbbb", None)
    assert (set(gpus), gpus["GPU-bbbb"]["error"]) == ({"GPU-bbbb"}, "GPU 0 does not answer")


def test_a_hanging_gpu_is_known_by_its_uuid_when_its_index_changes(machine: Machine):
    hanging = replace(A, hangs=("memory",))
    machine.driver.show(A, B)
    peer = machine.boot(TARMAC_GPU_AGAIN_S="600")
    health(peer, "GPU-aaaa", None)
    machine.driver.show(hanging, B)
    health(peer, "GPU-aaaa", "does not answer")
    machine.driver.show(replace(B, memory_used_bytes=9), hanging)
    gpus = until(peer, lambda gpus: gpus["GPU-bbbb"]["memory_used_bytes"] == 9)
    assert (gpus["GPU-bbbb"]["index"], gpus["GPU-bbbb"]["health"]) == (0, None)
    assert gpus["GPU-aaaa"]["health"] == "does not answer"


def test_processes_on_a_hanging_gpu_are_reported_until_they_end(machine: Machine):
    stranger = machine.stranger()
    machine.driver.show(replace(A, processes=(Process(pid=stranger.pid),)), B)
    peer = machine.boot()
    health(peer, "GPU-aaaa", None)
    machine.driver.show(replace(A, faults={"*": GPU_IS_LOST}), B)
    gpus = health(peer, "GPU-aaaa", "GPU is lost")
    assert [one["pid"] for one in gpus["GPU-aaaa"]["processes"]] == [stranger.pid]
    stranger.kill()
    stranger.wait()
    machine.driver.show(replace(A, faults={"*": GPU_IS_LOST}), replace(B, memory_used_bytes=1))
    until(peer, lambda gpus: not gpus["GPU-aaaa"]["processes"])


def test_an_unreadable_error_count_is_not_a_fault(machine: Machine):
    machine.driver.show(replace(A, faults={"ecc": 999, "remap": 999, "retire": 999, "mig": 999}))
    gpus = health(machine.boot(), "GPU-aaaa", None)
    assert gpus["GPU-aaaa"]["memory_total_bytes"] == A.memory_total_bytes, "all else is read"


def test_a_hanging_driver_is_reported_and_retried(machine: Machine):
    machine.driver.show(A)
    peer = machine.boot()
    health(peer, "GPU-aaaa", None)
    machine.driver.show(A, hangs=("count",))
    gpus = health(peer, "GPU-aaaa", "does not answer")
    assert gpus["GPU-aaaa"]["error"] == "the nvidia driver does not answer"
    machine.driver.show(A)
    assert health(peer, "GPU-aaaa", None)["GPU-aaaa"]["error"] is None


def test_memory_errors_that_rise_make_a_gpu_unhealthy_and_old_ones_do_not(machine: Machine):
    machine.driver.show(replace(A, ecc_errors=3), replace(B, ecc_errors=0))
    peer = machine.boot(TARMAC_GPU_WELL_S="0.5")
    assert health(peer, "GPU-aaaa", None)["GPU-bbbb"]["health"] is None
    machine.driver.show(replace(A, ecc_errors=3), replace(B, ecc_errors=2))
    gpus = health(peer, "GPU-bbbb", "2 uncorrectable memory errors (ECC)")
    assert gpus["GPU-aaaa"]["health"] is None
    # Any changed reading makes the agent judge again.
    machine.driver.show(replace(A, ecc_errors=3, memory_used_bytes=1), replace(B, ecc_errors=2))
    for used in range(2, 100):
        machine.driver.show(replace(A, ecc_errors=3, memory_used_bytes=used), replace(B, ecc_errors=2))
        if (
            until(peer, lambda gpus, used=used: gpus["GPU-aaaa"]["memory_used_bytes"] == used)["GPU-bbbb"]["health"]
            is None
        ):
            return
    raise AssertionError("it never got well")


def test_pending_repairs_make_a_gpu_unhealthy(machine: Machine):
    machine.driver.show(replace(A, is_retiring=True), replace(B, has_failed_to_remap=True))
    peer = machine.boot()
    gpus = health(peer, "GPU-aaaa", "page is taken out of use at the next reset")
    assert "replace the GPU" in gpus["GPU-bbbb"]["health"]
    machine.driver.show(A, replace(B, is_remapping=True))
    assert "row is taken out of use" in health(peer, "GPU-aaaa", None)["GPU-bbbb"]["health"]


def test_an_xid_of_the_gpu_makes_it_sick_and_one_of_a_program_does_not(machine: Machine):
    machine.driver.show(A, B)
    peer = machine.boot()
    health(peer, "GPU-aaaa", None)
    machine.driver.show(replace(A, xid=(1, A_PROGRAMS_FAULT)), replace(B, xid=(1, FALLEN_OFF)))
    gpus = health(peer, "GPU-bbbb", "Xid 79: fell off the bus")
    assert gpus["GPU-aaaa"]["health"] is None


def test_an_xid_from_before_the_agents_start_is_ignored(machine: Machine):
    machine.driver.show(replace(A, xid=(4, FALLEN_OFF)))
    peer = machine.boot()
    health(peer, "GPU-aaaa", None)
    machine.driver.show(replace(A, xid=(5, FALLEN_OFF)))
    assert health(peer, "GPU-aaaa", "Xid 79")["GPU-aaaa"]["health"] == "Xid 79: fell off the bus"
