"""The signal before the end: before the time limit by the shim alone, before a preemption by the agent."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import pytest

from tests.agent_peer import AgentPeer, Site, by_clock, eventually

# Main process and child write when they get USR1. The child has left the session.
FAMILY = """
import os, signal, sys, time
child = os.fork() == 0
if child:
    os.setsid()
name = sys.argv[2 if child else 1]
def note(what):
    with open(name, "a") as file:
        file.write(what + "\\n")
signal.signal(signal.SIGUSR1, lambda *_: note("warned"))
def stop(*_):
    note("stopped")
    os._exit(5)
signal.signal(signal.SIGTERM, stop)
note("ready")
while True:
    time.sleep(0.01)
"""
LIMIT: dict[str, Any] = {"stop_signal": signal.SIGTERM, "grace_s": 30.0}


def warning(before_s: float = 0.5, *, main_only: bool = False) -> dict[str, Any]:
    return {"signal": signal.SIGUSR1, "before_s": before_s, "main_only": main_only}


def start(site: Site, peer: AgentPeer, **more: Any) -> None:
    argv = [sys.executable, "-c", FAMILY, site.path("main"), site.path("child")]
    peer.start(1, argv=argv, stdout=site.path("log1"), **{**LIMIT, **more})
    peer.expect("started", 1)
    eventually(lambda: notes(site) == (["ready"], ["ready"]), "their handlers")


def notes(site: Site) -> tuple[list[str], list[str]]:
    return site.text("main").split(), site.text("child").split()


def test_the_whole_tree_is_warned_before_the_limit(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=6.0, warn=warning(3.0))
    eventually(lambda: notes(site) == (["ready", "warned"], ["ready", "warned"]), "the warning")
    assert not [frame for frame in peer.inbox if frame["type"] == "exited"], "it goes on until the limit"
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["timed_out"]) == (5, True)
    assert notes(site)[0] == ["ready", "warned", "stopped"], "once, and then the stop signal"


@by_clock
def test_only_the_main_process_is_warned_on_request(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=6.0, warn=warning(3.0, main_only=True))
    assert peer.expect("exited", 1)["timed_out"]
    assert notes(site) == (["ready", "warned", "stopped"], ["ready", "stopped"])


def test_a_command_that_ends_after_its_warning_has_not_timed_out(site: Site, peer: AgentPeer) -> None:
    shell = "trap 'echo saved; exit 0' USR1; while :; do sleep 0.01; done"
    peer.start(1, shell=shell, stdout=site.path("log1"), limit_s=30.0, warn=warning(27.0, main_only=True), **LIMIT)
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["timed_out"]) == (0, False)
    assert "saved" in site.text("log1")


def test_the_warning_comes_without_any_agent(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=7.0, warn=warning(3.0))
    site.kill_agent()
    eventually(lambda: "warned" in notes(site)[0], "the warning")
    eventually(lambda: site.text("agent/runs/1.1/exit.json").strip(), "the exit record")
    assert site.record(1, "exit.json")["timed_out"]


def test_the_agent_warns_in_place_of_a_killed_shim(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=7.0, warn=warning(3.0, main_only=True))
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    peer.expect("lost", 1, alive=True)
    peer.expect("gone", 1)
    assert notes(site)[0] == ["ready", "warned", "stopped"]
    assert "warned" not in notes(site)[1]


@by_clock
def test_a_pause_puts_the_warning_off(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=5.0, warn=warning(2.0))
    peer.pause(1)
    peer.settle()
    peer.start(2, shell="exec sleep 600", stdout=site.path("log2"), limit_s=5.0, **LIMIT)
    assert peer.expect("exited", 2)["timed_out"]
    peer.pause(1, is_paused=False)
    peer.settle()
    exited = peer.expect("exited", 1)
    assert exited["ran_s"] - exited["paused_s"] >= 5.0
    assert notes(site)[0] == ["ready", "warned", "stopped"]


def test_a_warning_does_not_end_a_pause(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=60.0, warn=warning(56.0))
    peer.pause(1, is_counted=True)
    peer.settle()
    shell = "trap 'echo warned; exit' USR1; while :; do sleep 0.01; done"
    peer.start(2, shell=shell, stdout=site.path("log2"), limit_s=60.0, warn=warning(56.0), **LIMIT)
    peer.expect("exited", 2)
    assert "warned" in site.text("log2"), "the time of the warning has come for both"
    assert notes(site) == (["ready"], ["ready"])
    peer.pause(1, is_paused=False)
    eventually(lambda: notes(site) == (["ready", "warned"], ["ready", "warned"]), "it was kept for them")
    peer.signal(1, signal.SIGKILL, 0.0)


@by_clock
def test_a_job_that_is_being_stopped_is_not_warned_of_its_limit(site: Site, peer: AgentPeer) -> None:
    shell = "trap 'echo asked' TERM; trap 'echo warned' USR1; echo ready; while :; do sleep 0.01; done"
    peer.start(1, shell=shell, stdout=site.path("log1"), limit_s=4.0, warn=warning(1.0), stop_signal=15, grace_s=30.0)
    eventually(lambda: "ready" in site.text("log1"), "its traps")
    peer.signal(1, signal.SIGTERM, 6.0)
    assert peer.expect("exited", 1)["signal"] == signal.SIGKILL
    assert "warned" not in site.text("log1")
    assert "asked" in site.text("log1")


# Before a preemption


def preempt(peer: AgentPeer, grace_s: float = 4.0, **more: Any) -> None:
    peer.send(type="signal", job=1, attempt=1, signal=signal.SIGTERM, grace_s=grace_s, warn=warning(120.0, **more))


@pytest.mark.parametrize("main_only", [False, True])
def test_a_preempted_job_is_warned_first(site: Site, peer: AgentPeer, main_only: bool) -> None:
    start(site, peer)
    preempt(peer, main_only=main_only)
    eventually(lambda: "warned" in notes(site)[0], "the warning")
    assert "stopped" not in notes(site)[0]
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["signalled"]) == (5, True)
    assert notes(site)[0] == ["ready", "warned", "stopped"]
    assert ("warned" in notes(site)[1]) is not main_only


def test_the_stop_signal_follows_although_the_agent_died(site: Site, peer: AgentPeer) -> None:
    start(site, peer)
    preempt(peer, grace_s=6.0)
    eventually(lambda: "warned" in notes(site)[0], "the warning")
    site.kill_agent()
    again = site.boot()
    preempt(again, grace_s=6.0)  # the controller repeats it
    assert again.expect("exited", 1)["signalled"]
    assert notes(site)[0] == ["ready", "warned", "stopped"], "no second warning"


def test_a_person_does_not_wait_for_the_warning(site: Site, peer: AgentPeer) -> None:
    start(site, peer)
    preempt(peer, grace_s=1000.0)
    eventually(lambda: "warned" in notes(site)[0], "the warning")
    peer.signal(1, signal.SIGTERM, 30.0)
    assert peer.expect("exited", 1)["exit_code"] == 5


def test_a_paused_job_is_warned_of_its_preemption(site: Site, peer: AgentPeer) -> None:
    start(site, peer)
    peer.pause(1)
    peer.settle()
    preempt(peer)
    eventually(lambda: "warned" in notes(site)[0], "the warning")
    assert peer.expect("exited", 1)["exit_code"] == 5


def test_no_grace_leaves_no_time_for_a_warning(site: Site, peer: AgentPeer) -> None:
    start(site, peer)
    preempt(peer, grace_s=0.0)
    assert peer.expect("exited", 1)["signal"] == signal.SIGKILL
    assert notes(site)[0] == ["ready"]


def test_a_job_that_was_warned_of_its_limit_is_not_warned_again(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=100.0, warn=warning(96.0))
    eventually(lambda: "warned" in notes(site)[0], "the warning")
    preempt(peer, grace_s=1000.0)
    assert peer.expect("exited", 1)["exit_code"] == 5
    assert notes(site)[0] == ["ready", "warned", "stopped"]


@pytest.mark.parametrize("warn", ["USR1", {"signal": 99, "before_s": 1.0}, {"signal": 10, "before_s": -1}, {}])
def test_a_malformed_warning_is_refused(site: Site, peer: AgentPeer, warn: Any) -> None:
    peer.start(1, shell="echo ran", stdout=site.path("log1"), limit_s=1.0, warn=warn, **LIMIT)
    peer.expect("launch_failed", 1)
    peer.settle()
    assert "ran" not in site.text("log1")


def test_the_report_says_that_the_warning_ended_the_command(site: Site, peer: AgentPeer) -> None:
    for job, shell in enumerate(("exec sleep 60", "sleep 60; exit $?", "trap 'exit 7' USR1; sleep 60 & wait"), 1):
        peer.start(job, shell=shell, stdout=site.path(f"log{job}"), **LIMIT, limit_s=60.0, warn=warning(58.0))
    exits = [peer.expect("exited", job) for job in (1, 2, 3)]
    assert [one["signal"] for one in exits] == [signal.SIGUSR1, signal.SIGUSR1, None]
    assert [one.get("by_warning", False) for one in exits] == [True, True, False], "the last one handled it"
    assert all(0 <= one["warned_s"] < one["ran_s"] for one in exits)


def test_a_command_that_ends_before_its_warning_was_not_warned(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="kill -USR1 $$", stdout=site.path("log1"), **LIMIT, limit_s=600.0, warn=warning(5.0))
    exited = peer.expect("exited", 1)
    assert exited["signal"] == signal.SIGUSR1
    assert not {"warned_s", "by_warning"} & set(exited)
