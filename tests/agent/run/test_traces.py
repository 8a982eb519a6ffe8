"""Run directories and records are removed or damaged while jobs run: their processes tell that they run."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent.run.test_recover import HIDDEN, go, start_waiting
from tests.agent_peer import AgentPeer, Site, eventually, is_alive


def remove_directory(runs: Path) -> None:
    shutil.rmtree(runs / "1.1")


def remove_all(runs: Path) -> None:
    shutil.rmtree(runs)


def remove_records(runs: Path) -> None:
    for path in (runs / "1.1").iterdir():
        path.unlink()


def truncate_record(runs: Path) -> None:
    os.truncate(runs / "1.1/start.json", 60)


def corrupt_record(runs: Path) -> None:
    record = runs / "1.1/start.json"
    record.write_bytes(record.read_bytes().replace(b'"pid"', b'"dip"'))


DAMAGES = [remove_directory, remove_all, remove_records, truncate_record, corrupt_record]
damaged = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
Damage = Callable[[Path], None]


def runs(site: Site) -> Path:
    return site.state / "agent/runs"


@damaged
def test_job_is_found_by_its_processes(site: Site, peer: AgentPeer, damage: Damage) -> None:
    """Its shim lives: it still runs as before."""
    pid = start_waiting(site, peer)
    damage(runs(site))
    site.kill_agent()
    peer = site.boot()
    (run,) = peer.hello["runs"]
    assert (run["type"], run["pid"]) == ("started", pid)
    peer.start(1, shell=f"echo again >> {site.path('witness')}", stdout=site.path("again"))
    peer.expect("started", 1)
    site.kill_agent()
    peer = site.boot()
    assert [run["type"] for run in peer.hello["runs"]] == ["started"], "also the second time"
    go(site)
    if damage is remove_all:
        assert peer.expect("lost", 1)["alive"] is False, "its exit record has no place"
    else:
        assert peer.expect("exited", 1)["exit_code"] == 42
    assert not is_alive(pid)
    assert site.text("witness") == "ran\n"


@damaged
def test_job_without_records_can_be_killed(site: Site, peer: AgentPeer, damage: Damage) -> None:
    pid = start_waiting(site, peer)
    damage(runs(site))
    site.kill_agent()
    peer = site.boot()
    peer.signal(1, signal.SIGTERM, 5)
    eventually(lambda: not is_alive(pid))
    assert site.text("witness") == "ran\n", "it was not started again"


@damaged
def test_job_without_records_and_shim_is_held_until_its_processes_are_gone(
    site: Site, peer: AgentPeer, damage: Damage
) -> None:
    pid = start_waiting(site, peer)
    shim = site.record(1)["shim_pid"]
    damage(runs(site))
    site.agent.kill()
    os.kill(shim, signal.SIGKILL)
    site.agent.wait()
    eventually(lambda: not is_alive(shim))
    peer = site.boot()
    (run,) = peer.hello["runs"]
    assert (run["type"], run["alive"], is_alive(pid)) == ("lost", True, True)
    go(site)
    peer.expect("gone", 1)
    assert not is_alive(pid)


@pytest.mark.parametrize("damage", [remove_directory, remove_all], ids=lambda damage: damage.__name__)
def test_hidden_process_is_found_without_a_run_directory(site: Site, peer: AgentPeer, damage: Damage) -> None:
    peer.start(1, shell=f"{HIDDEN} & disown; sleep 1000", stdout=site.path("log1"))
    pid = int(eventually(lambda: site.text("log1")))
    start = site.record(1)
    damage(runs(site))
    site.agent.kill()
    for one in (start["shim_pid"], start["pid"]):
        os.kill(one, signal.SIGKILL)
    site.agent.wait()
    eventually(lambda: not is_alive(start["pid"]) and not is_alive(start["shim_pid"]))
    peer = site.boot()
    (run,) = peer.hello["runs"]
    assert (run["type"], run["alive"], is_alive(pid)) == ("lost", True, True)
    peer.signal(1, signal.SIGTERM, 0)
    peer.expect("gone", 1)
    assert not is_alive(pid)


@damaged
def test_directory_removed_under_a_living_agent_does_not_hurt(site: Site, peer: AgentPeer, damage: Damage) -> None:
    start_waiting(site, peer)
    damage(runs(site))
    go(site)
    assert peer.expect("exited", 1)["exit_code"] == 42
    peer.forget(1)
    peer.settle()
    peer.start(2, shell="exit 7", stdout=site.path("log2"))
    assert peer.expect("exited", 2)["exit_code"] == 7, "other jobs can be started"


@damaged
def test_shim_killed_without_records_under_a_living_agent(site: Site, peer: AgentPeer, damage: Damage) -> None:
    pid = start_waiting(site, peer)
    shim = site.record(1)["shim_pid"]
    damage(runs(site))
    os.kill(shim, signal.SIGKILL)
    assert peer.expect("lost", 1)["alive"] is True
    assert is_alive(pid)
    go(site)
    peer.expect("gone", 1)


def test_spare_directories_removed_under_a_living_agent_do_not_hurt(site: Site, peer: AgentPeer) -> None:
    for removed in (site.state / "agent/spare", runs(site)):
        while removed.exists():  # the agent may add a directory while they are being removed
            shutil.rmtree(removed, ignore_errors=True)
    for job in (1, 2, 3):
        peer.start(job, shell=f"exit {job}", stdout=site.path(f"log{job}"))
        assert peer.expect("exited", job)["exit_code"] == job
        peer.forget(job)
    peer.settle()


def test_directory_of_an_attempt_that_never_ran_is_removed(site: Site) -> None:
    site.stop_agent()
    (runs(site) / "9.1").mkdir(mode=0o700)
    assert site.boot().hello["runs"] == []
    assert not (runs(site) / "9.1").exists()
