"""Pausing an attempt freezes its whole tree, even if Tarmac's processes die, and stops the clock of its time limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from tarmac.agent.records.run_folder import RunFolder
from tests.agent_peer import AgentPeer, Site, by_clock, eventually, is_alive
from tests.clock.shifted import ShiftedClock

# Two processes write; one of them has left the session of the other.
FAMILY = """
import os, sys, time
child = os.fork() == 0
if child:
    os.setsid()
while True:
    with open(sys.argv[2 if child else 1], "a") as file:
        file.write("x")
    time.sleep(0.002)
"""
FORKS = "while :; do (echo >> {0}/first; sleep 0.001; echo >> {0}/second) & wait; done"
QUIET_S = 0.15


def start_family(site: Site, peer: AgentPeer, job: int = 1, **more: Any) -> None:
    argv = [sys.executable, "-c", FAMILY, site.path("first"), site.path("second")]
    peer.start(job, argv=argv, stdout=site.path(f"log{job}"), **more)
    peer.expect("started", job)
    is_busy(site)


def sizes(site: Site) -> tuple[int, int]:
    return len(site.text("first")), len(site.text("second"))


def is_quiet(site: Site) -> bool:
    """Neither process writes for a while."""
    before = sizes(site)
    time.sleep(QUIET_S)
    return sizes(site) == before


def is_busy(site: Site) -> None:
    """Both processes write."""
    before = sizes(site)
    eventually(lambda: all(now > then for now, then in zip(sizes(site), before, strict=True)), "both write")


def pause(peer: AgentPeer, site: Site, **more: Any) -> None:
    peer.pause(1, **more)
    peer.settle()
    eventually(lambda: is_quiet(site), "the tree is frozen")


def reach_limit(site: Site, peer: AgentPeer, limit_s: float) -> None:
    """Start another job with this limit, and wait until it has reached it: so long has the first one been paused."""
    shell = "trap '' TERM; while :; do sleep 0.05; done"
    peer.start(2, shell=shell, stdout=site.path("log2"), limit_s=limit_s, grace_s=0.0, stop_signal=signal.SIGTERM)
    eventually(lambda: site.text("agent/runs/2.1/exit.json").strip(), "the limit of another job")


def test_the_whole_tree_stops_and_goes_on(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer)
    for _ in range(2):  # also the second time
        pause(peer, site)
        peer.pause(1)
        peer.settle()
        assert is_quiet(site)
        peer.pause(1, is_paused=False)
        is_busy(site)
    peer.pause(1, is_paused=False)
    peer.settle()
    is_busy(site)


def test_processes_that_keep_forking_stop(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell=FORKS.format(site.state), stdout=site.path("log1"))
    is_busy(site)
    pause(peer, site)
    assert is_quiet(site)
    peer.pause(1, is_paused=False)
    is_busy(site)


def test_the_clock_of_the_time_limit_stops(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer, limit_s=4.0, grace_s=30.0, stop_signal=signal.SIGTERM)
    peer.pause(1)
    peer.settle()
    reach_limit(site, peer, 4.0)
    assert is_quiet(site)
    assert not [frame for frame in peer.inbox if frame["type"] == "exited" and frame["job"] == 1]
    peer.pause(1, is_paused=False)
    exited = peer.expect("exited", 1)
    assert exited["timed_out"]
    assert exited["ran_s"] - exited["paused_s"] >= 4.0
    assert exited["paused_s"] >= 4.0


@by_clock
def test_several_pauses_add_up(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer, limit_s=4.0, grace_s=30.0, stop_signal=signal.SIGTERM)
    paused_s = 0.0
    for _ in range(3):
        peer.pause(1)
        peer.settle()
        since = time.monotonic()
        eventually(lambda: is_quiet(site), "the tree is frozen")
        paused_s += time.monotonic() - since
        peer.pause(1, is_paused=False)
        peer.settle()
    exited = peer.expect("exited", 1)
    assert exited["timed_out"]
    assert exited["ran_s"] - exited["paused_s"] >= 4.0
    assert exited["paused_s"] >= paused_s


@by_clock
def test_a_pause_that_counts_ends_with_the_limit(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer, limit_s=3.0, grace_s=30.0, stop_signal=signal.SIGTERM)
    peer.pause(1, is_counted=True)
    exited = peer.expect("exited", 1)
    assert (exited["timed_out"], exited["signal"]) == (True, signal.SIGTERM)
    assert exited["paused_s"] > 0


def test_a_report_says_nothing_of_pauses_if_there_was_none(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="true", stdout=site.path("log1"))
    assert "paused" not in peer.expect("started", 1)
    assert "paused_s" not in peer.expect("exited", 1)


@pytest.mark.parametrize("grace_s", [30.0, 0.0])
def test_a_paused_job_can_be_stopped(site: Site, peer: AgentPeer, grace_s: float) -> None:
    shell = "trap 'echo saved; exit 7' TERM; echo ready; while :; do sleep 0.01; done"
    peer.start(1, shell=shell, stdout=site.path("log1"))
    eventually(lambda: "ready" in site.text("log1"), "its trap")
    peer.pause(1)
    peer.settle()
    peer.signal(1, signal.SIGTERM, grace_s)
    exited = peer.expect("exited", 1)
    assert exited["signalled"]
    if grace_s:
        assert exited["exit_code"] == 7
        assert "saved" in site.text("log1")
    else:
        assert exited["signal"] == signal.SIGKILL


def test_a_job_that_is_being_stopped_is_not_paused(site: Site, peer: AgentPeer) -> None:
    shell = "trap 'echo asked' TERM; echo ready; until [ -e $0.go ]; do sleep 0.01; done; exit 5"
    peer.start(1, argv=["bash", "-c", shell, site.path("log1")], stdout=site.path("log1"))
    eventually(lambda: "ready" in site.text("log1"), "its trap")
    peer.signal(1, signal.SIGTERM, 30.0)
    peer.pause(1)
    peer.settle()
    (site.state / "log1.go").touch()
    assert peer.expect("exited", 1)["exit_code"] == 5


def test_a_pause_survives_the_agent(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer, limit_s=5.0, grace_s=30.0, stop_signal=signal.SIGTERM)
    pause(peer, site)
    shell = "trap '' TERM; while :; do sleep 0.05; done"
    peer.start(2, shell=shell, stdout=site.path("log2"), limit_s=5.0, grace_s=0.0, stop_signal=signal.SIGTERM)
    peer.expect("started", 2)
    site.kill_agent()
    eventually(lambda: site.text("agent/runs/2.1/exit.json").strip(), "the limit, of which shims alone know")
    assert is_quiet(site)
    again = site.boot()
    (first,) = [run for run in again.hello["runs"] if run["job"] == 1]
    assert first["paused"]
    assert is_quiet(site)
    again.pause(1, is_paused=False)
    is_busy(site)
    exited = again.expect("exited", 1)
    assert exited["timed_out"]
    assert exited["paused_s"] >= 5.0


def test_a_pause_ends_with_the_job_however_late_an_agent_learns_of_it(
    site: Site, peer: AgentPeer, shifted_clock: ShiftedClock
) -> None:
    start_family(site, peer)
    pause(peer, site)
    site.kill_agent()
    os.kill(site.record(1)["pid"], signal.SIGKILL)
    eventually(lambda: site.text("agent/runs/1.1/exit.json").strip(), "the exit record")
    shifted_clock.suspend(3600)  # this must not count
    report = site.boot(**shifted_clock.environment).hello["runs"][0]
    assert report["type"] == "exited"
    assert report["paused_s"] <= report["ran_s"]


@by_clock
def test_the_limit_holds_after_a_pause_without_any_agent(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer, limit_s=4.0, grace_s=30.0, stop_signal=signal.SIGTERM)
    pause(peer, site)
    peer.pause(1, is_paused=False)
    peer.settle()
    site.kill_agent()
    eventually(lambda: site.text("agent/runs/1.1/exit.json").strip(), "the exit record")
    assert site.record(1, "exit.json")["timed_out"]
    again = site.boot()
    assert again.hello["runs"][0]["paused_s"] > 0


@by_clock
def test_a_counted_pause_ends_with_the_limit_without_any_agent(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer, limit_s=4.0, grace_s=30.0, stop_signal=signal.SIGTERM)
    pause(peer, site, is_counted=True)
    site.kill_agent()
    eventually(lambda: site.text("agent/runs/1.1/exit.json").strip(), "the exit record")
    assert site.record(1, "exit.json")["timed_out"]


def test_a_stop_that_the_agent_did_not_finish_ends_a_paused_job(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer)
    pause(peer, site)
    pid = site.record(1)["pid"]
    site.kill_agent()
    later = site.boot()
    later.signal(1, signal.SIGTERM, 30.0)
    assert later.expect("exited", 1)["signal"] == signal.SIGTERM
    assert not is_alive(pid)


def test_a_paused_job_without_its_shim_keeps_its_limit(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer, limit_s=5.0, grace_s=0.1, stop_signal=signal.SIGTERM)
    pause(peer, site)
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    peer.expect("lost", 1, alive=True)
    reach_limit(site, peer, 5.0)
    assert is_alive(site.record(1)["pid"])
    assert is_quiet(site)
    peer.pause(1, is_paused=False)
    is_busy(site)
    peer.expect("gone", 1)


def test_an_adopted_process_can_be_paused(site: Site, peer: AgentPeer) -> None:
    argv = [sys.executable, "-c", FAMILY, site.path("first"), site.path("second")]
    with subprocess.Popen(argv, start_new_session=True) as process:
        is_busy(site)
        peer.send(type="adopt", job=1, attempt=1, pid=process.pid)
        peer.expect("started", 1)
        pause(peer, site)
        site.kill_agent()
        again = site.boot()
        assert is_quiet(site)
        again.pause(1, is_paused=False)
        is_busy(site)
        again.signal(1, signal.SIGKILL, 0.0)
        assert again.expect("exited", 1)["paused_s"] > 0
        again.forget(1)
        eventually(lambda: not (site.state / "agent/runs/1.1").exists(), "its records are gone")


def test_a_pause_of_an_unknown_attempt_does_nothing(site: Site, peer: AgentPeer) -> None:
    start_family(site, peer)
    peer.pause(99)
    peer.settle()
    is_busy(site)
    assert not (site.state / "agent/runs/99.1").exists()
    pause(peer, site)
    peer.pause(99, is_paused=False)
    peer.settle()
    assert is_quiet(site), "another job stays paused"


@by_clock
def test_a_job_that_reached_its_limit_during_a_pause_is_not_frozen_again(site: Site, peer: AgentPeer) -> None:
    """It has its grace period to save its work."""
    start_family(site, peer, limit_s=4.0, grace_s=300.0, stop_signal=signal.SIGCONT)  # which it survives
    pause(peer, site, is_counted=True)
    site.kill_agent()
    is_busy(site)  # the shim has thawed it
    again = site.boot()
    is_busy(site)
    again.pause(1, is_counted=True)  # the controller repeats it when the node joins
    again.settle()
    is_busy(site)
    again.signal(1, signal.SIGKILL, 0.0)
    assert again.expect("exited", 1)["timed_out"]


@pytest.mark.parametrize("is_older", [True, False])
def test_a_shim_of_an_older_version_is_reported_as_not_stopping_its_clock(
    site: Site, peer: AgentPeer, is_older: bool
) -> None:
    start_family(site, peer, limit_s=600.0, grace_s=30.0, stop_signal=signal.SIGTERM)
    site.kill_agent()
    record = site.record(1)
    if is_older:
        record["limit"] = {name: record["limit"][name] for name in ("until", "seconds", "signal", "grace_s")}
    del record["crc"]
    folder = RunFolder(os.open(site.state / "agent/runs", os.O_RDONLY), "1.1")
    folder.write("start.json", record)
    assert site.boot().hello["runs"][0].get("clock_runs_on", False) is is_older
