"""What the agent knows about GPUs outlives it: error counts, faults, vanished GPUs."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.agent.gpus.machine import Machine, health, until
from tests.agent_peer import AgentPeer
from tests.home import until as wait_until
from tests.nvml.standin import DRIVER_NOT_LOADED, Gpu

A = Gpu(uuid="GPU-aaaa", ecc_errors=0)
B = Gpu(uuid="GPU-bbbb", ecc_errors=0)


def restart(machine: Machine, **env: str) -> AgentPeer:
    machine.kill_agent()
    return machine.boot(**env)


def seen(machine: Machine, *gpus: Gpu) -> AgentPeer:
    machine.driver.show(*gpus)
    peer = machine.boot()
    until(peer, lambda found: set(found) == {gpu.uuid for gpu in gpus})
    return peer


def test_errors_while_the_agent_was_away_make_a_gpu_unhealthy(machine: Machine):
    seen(machine, A, replace(B, ecc_errors=3))
    machine.driver.show(replace(A, ecc_errors=2), replace(B, ecc_errors=3))
    gpus = health(restart(machine), "GPU-aaaa", "2 uncorrectable memory errors (ECC)")
    assert gpus["GPU-bbbb"]["health"] is None


def test_an_agent_restart_does_not_clear_a_fault(machine: Machine):
    peer = seen(machine, A)
    machine.driver.show(replace(A, ecc_errors=1))
    health(peer, "GPU-aaaa", "an uncorrectable memory error")
    first = until(restart(machine), lambda gpus: "GPU-aaaa" in gpus)
    assert first["GPU-aaaa"]["health"] == "an uncorrectable memory error (ECC)"


def test_a_gpu_that_reported_no_error_count_is_unhealthy_once_it_reports_errors(machine: Machine):
    peer = seen(machine, replace(A, ecc_errors=None))
    machine.driver.show(A)
    machine.driver.show(replace(A, ecc_errors=4))
    gpus = health(peer, "GPU-aaaa", "4 uncorrectable memory errors")
    assert gpus["GPU-aaaa"]["health"] == "4 uncorrectable memory errors (ECC)"


def test_a_reloaded_driver_counts_errors_from_zero(machine: Machine):
    seen(machine, replace(A, ecc_errors=5), replace(B, ecc_errors=5))
    machine.driver.show(A, replace(B, ecc_errors=1))
    gpus = health(restart(machine), "GPU-bbbb", "an uncorrectable memory error")
    assert gpus["GPU-aaaa"]["health"] is None


def test_a_vanished_gpu_is_still_reported_with_the_time_it_vanished(machine: Machine):
    peer = seen(machine, A, B)
    machine.driver.show(A)
    before = health(peer, "GPU-bbbb", "vanished")["GPU-bbbb"]
    after = health(restart(machine), "GPU-bbbb", "vanished")["GPU-bbbb"]
    assert after["gone_since"] == before["gone_since"] is not None
    assert (after["index"], after["model"], after["memory_total_bytes"]) == (1, B.name, B.memory_total_bytes)
    machine.driver.show(A, B)
    assert health(machine.peers[-1], "GPU-bbbb", None)["GPU-bbbb"]["gone_since"] is None


def test_gpus_whose_driver_did_not_come_back_are_still_reported(machine: Machine):
    seen(machine, A)
    machine.driver.show(A, faults={"init": DRIVER_NOT_LOADED})
    gpus = health(restart(machine), "GPU-aaaa", "")
    assert gpus["GPU-aaaa"]["gone_since"] is not None
    machine.driver.show(A)
    health(machine.peers[-1], "GPU-aaaa", None)


def test_a_gpu_that_hangs_from_the_start_is_known_from_the_history(machine: Machine):
    seen(machine, A, B)
    machine.driver.show(replace(A, hangs=("*",)), B)
    gpus = health(restart(machine), "GPU-aaaa", "does not answer")
    assert (set(gpus), gpus["GPU-aaaa"]["utilization"]) == ({"GPU-aaaa", "GPU-bbbb"}, None)


def test_a_probe_that_hangs_ends_with_its_agent(machine: Machine):
    machine.driver.show(replace(A, hangs=("*",)))
    machine.boot()
    agent = machine.agent.pid
    children = Path(f"/proc/{agent}/task/{agent}/children")
    probes = wait_until(lambda: [pid for pid in children.read_text().split() if name_of(pid) == "tarmac-probe"])
    assert probes
    machine.kill_agent()
    assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in probes))


def name_of(pid: str) -> str | None:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None  # ended meanwhile


def test_a_forgotten_gpu_stays_forgotten_and_a_present_one_cannot_be_forgotten(machine: Machine):
    peer = seen(machine, A, B)
    machine.driver.show(A)
    health(peer, "GPU-bbbb", "vanished")
    peer.ask("forget_gpus", "gpus_forgotten", uuids=["GPU-aaaa", "GPU-bbbb", "GPU-never"])
    assert set(until(peer, lambda gpus: "GPU-bbbb" not in gpus)) == {"GPU-aaaa"}
    assert set(until(restart(machine), lambda _: True)) == {"GPU-aaaa"}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b'{"cards":{"GPU-aaaa":{"index":0,',
        b"\xff\x00\xff",
        b"[]",
        b'{"cards":{"GPU-cccc":{"index":"0"}},"ecc":{},"troubles":{}}',
        b'{"cards":{},"ecc":{"GPU-aaaa":"many"},"troubles":{"GPU-aaaa":7}}',
    ],
)
def test_a_torn_or_foreign_history_is_replaced(machine: Machine, text: bytes):
    seen(machine, A)
    machine.kill_agent()
    path = machine.state / "agent/cards.json"
    path.write_bytes(text)
    peer = machine.boot()
    assert set(health(peer, "GPU-aaaa", None)) == {"GPU-aaaa"}
    machine.driver.show(replace(A, ecc_errors=1))
    health(peer, "GPU-aaaa", "memory error")
    assert b"memory error" in path.read_bytes()


def test_simulated_gpus_that_are_no_longer_requested_did_not_vanish(machine: Machine):
    until(machine.boot(TARMAC_FAKE_GPUS="4"), lambda gpus: len(gpus) == 4)
    assert len(until(restart(machine, TARMAC_FAKE_GPUS="2"), lambda _: True)) == 2


def test_an_unchanged_reading_is_reported_too(machine: Machine):
    """So that the controller knows the reading is fresh."""
    peer = seen(machine, A)
    peer.expect("gpus_unchanged", deadline_s=60)  # the free memory of a busy host changes with every reading
    memory = [frame["host"]["memory_available_bytes"] for frame in peer.inbox if frame["type"] == "gpus"]
    assert all(one != other for one, other in pairwise(memory)), "in place of the same reading"
