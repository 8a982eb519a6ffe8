"""Adopted processes: watched until they end, stopped on request, not affected by agent restarts."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.agent.gpus.machine import Machine, until
from tests.agent_peer import AgentPeer, eventually, is_alive
from tests.nvml.standin import Gpu, Process
from tests.services import need

PARENT = """
import os, signal, sys, time
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), flush=True)
    signal.pause()
signal.pause()
"""


def adopt(peer: AgentPeer, pid: int, job: int = 1, **more: int | None) -> None:
    peer.send(**{"type": "adopt", "job": job, "attempt": 1, "pid": pid, "start_time": None, **more})


def start_time(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def test_adopted_process_is_reported_with_its_start_and_end(machine: Machine):
    peer = machine.boot()
    before = time.time()
    process = machine.stranger()
    adopt(peer, process.pid, start_time=start_time(process.pid))
    started = peer.expect("started", 1)
    assert (started["pid"], abs(started["started_at"] - before) < 60) == (process.pid, True)
    process.kill()
    process.wait()
    ended = peer.expect("exited", 1)
    assert (ended["exit_code"], ended["signal"], ended["adopted"]) == (None, None, True)
    assert (ended["pid"], ended["started_at"]) == (process.pid, started["started_at"])


def test_adopted_process_is_over_although_it_is_a_zombie(machine: Machine):
    peer = machine.boot()
    process = machine.stranger()
    adopt(peer, process.pid)
    peer.expect("started", 1)
    process.kill()
    peer.expect("exited", 1)
    assert Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_end_of_an_adopted_process_is_repeated_until_forgotten(machine: Machine):
    peer = machine.boot()
    process = machine.stranger()
    adopt(peer, process.pid)
    peer.expect("started", 1)
    process.kill()
    peer.expect("exited", 1)
    assert [run["type"] for run in machine.connect().hello["runs"]] == ["exited"]
    peer = machine.connect()
    peer.forget(1)
    peer.settle()
    eventually(lambda: not os.path.exists(machine.path("agent/runs/1.1")))


def test_adopting_twice_adopts_once(machine: Machine):
    peer = machine.boot()
    process = machine.stranger()
    adopt(peer, process.pid)
    first = peer.expect("started", 1)
    adopt(peer, process.pid)
    assert peer.expect("started", 1) == first


def test_stop_of_an_adopted_process_reaches_its_children_and_kills_those_that_do_not_obey(machine: Machine):
    peer = machine.boot()
    process = machine.stranger(PARENT)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    adopt(peer, process.pid)
    peer.expect("started", 1)
    peer.signal(1, signal.SIGTERM, 0.3)
    assert process.wait() == -signal.SIGTERM
    peer.expect("exited", 1)
    assert not is_alive(child)


def test_adopted_process_is_watched_by_the_next_agent(machine: Machine):
    peer = machine.boot()
    process = machine.stranger()
    adopt(peer, process.pid)
    started = peer.expect("started", 1)
    machine.kill_agent()
    peer = machine.boot()
    assert peer.hello["runs"] == [started]
    process.kill()
    peer.expect("exited", 1)


def test_end_of_an_adopted_process_without_an_agent_is_reported_by_the_next(machine: Machine):
    peer = machine.boot()
    process = machine.stranger()
    adopt(peer, process.pid)
    peer.expect("started", 1)
    machine.kill_agent()
    process.kill()
    process.wait()
    peer = machine.boot()
    (told,) = peer.hello["runs"]  # the agent may notice its end only later
    ended = told if told["type"] == "exited" else peer.expect("exited", 1, adopted=True)
    assert (ended["exit_code"], ended["signal"]) == (None, None), "only the process that started it knows how"


def test_adopted_process_is_lost_after_a_reboot(machine: Machine):
    peer = machine.boot()
    adopt(peer, machine.stranger().pid)
    peer.expect("started", 1)
    machine.kill_agent()
    (run,) = machine.boot(TARMAC_BOOT_ID="another").hello["runs"]
    assert (run["type"], run["alive"]) == ("lost", False)


def test_gpu_use_of_an_adopted_process_counts_for_its_job(machine: Machine):
    process = machine.stranger()
    machine.driver.show(Gpu(uuid="GPU-aaaa", processes=(Process(pid=process.pid),)))
    peer = machine.boot()
    until(peer, lambda gpus: [one["job"] for one in gpus["GPU-aaaa"]["processes"]] == [None])
    adopt(peer, process.pid, job=7)
    gpus = until(peer, lambda gpus: [one["job"] for one in gpus["GPU-aaaa"]["processes"]] == [7])
    assert [one["pid"] for one in gpus["GPU-aaaa"]["processes"]] == [process.pid]


def test_refused_adoption_says_why(machine: Machine):
    peer = machine.boot()
    process = machine.stranger()
    adopt(peer, 2**22 - 1)
    assert peer.expect("launch_failed", 1)["message"].endswith("the process does not exist")
    adopt(peer, process.pid, start_time=1)
    assert peer.expect("launch_failed", 1)["message"].endswith("the process does not exist")
    adopt(peer, process.pid, uid=os.getuid() + 1)
    assert peer.expect("launch_failed", 1)["message"].endswith("only its owner can adopt it")
    adopt(peer, machine.agent.pid)
    assert peer.expect("launch_failed", 1)["message"].endswith("it is part of the system")
    adopt(peer, process.pid)
    peer.expect("started", 1)
    adopt(peer, process.pid, job=2)
    assert peer.expect("launch_failed", 2)["message"] == f"pid {process.pid} belongs to job 1 already"


def test_a_process_of_a_job_is_not_adopted(machine: Machine):
    peer = machine.boot()
    peer.start(3, shell="exec sleep 60", stdout=machine.path("log"))
    adopt(peer, peer.expect("started", 3)["pid"])
    assert peer.expect("launch_failed", 1)["message"].endswith("belongs to job 3 already")


def test_a_process_of_another_user_is_refused_and_root_may_adopt_it_for_its_owner(machine: Machine):
    need("root")
    peer = machine.boot()
    process = subprocess.Popen(["sleep", "60"], user=12345)
    try:
        adopt(peer, process.pid, uid=0)
        assert "belongs to uid 12345" in peer.expect("launch_failed", 1)["message"]
        adopt(peer, process.pid, uid=12345)
        peer.expect("started", 1)
    finally:
        process.kill()
        process.wait()
    peer.expect("exited", 1)


@pytest.fixture(autouse=True)
def _shows_nothing(machine: Machine) -> None:
    machine.driver.show()
