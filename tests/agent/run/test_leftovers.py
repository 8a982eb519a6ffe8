"""Processes that a command leaves behind are ended, and the report says how many there were, and which."""

from __future__ import annotations

import json
import os
import signal

from tarmac.agent.procs.leftovers import COMMAND_CHARS, MOST_NAMED
from tests.agent_peer import AgentPeer, Site, eventually, is_alive

STUBBORN = "(trap '' TERM; while :; do sleep 0.01; done) & "


def test_report_names_what_the_command_left_behind(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="sleep 1000 & sleep 2000 & exit 5", stdout=site.path("log1"))
    exited = peer.expect("exited", 1)
    assert exited["exit_code"] == 5
    assert exited["leftovers"]["count"] == 2
    assert [process["command"] for process in exited["leftovers"]["processes"]] == ["sleep 1000", "sleep 2000"]
    assert not any(is_alive(process["pid"]) for process in exited["leftovers"]["processes"])


def test_report_of_a_command_that_left_nothing_says_nothing(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="sleep 0.01 & wait", stdout=site.path("log1"))
    assert "leftovers" not in peer.expect("exited", 1)


def test_next_attempt_in_the_same_run_folder_has_its_own(site: Site, peer: AgentPeer) -> None:
    """The record of an earlier attempt may still be there."""
    for job in range(1, 7):
        peer.start(job, shell="sleep 1000 & exit 0" if job % 2 else "exit 0", stdout=site.path(f"log{job}"))
        assert ("leftovers" in peer.expect("exited", job)) is bool(job % 2)
        peer.forget(job)
        eventually(lambda job=job: not (site.state / f"agent/runs/{job}.1").exists())
    site.kill_agent()
    assert site.boot().hello["runs"] == []


def test_thousands_of_processes_are_counted_and_a_few_are_named(site: Site, peer: AgentPeer) -> None:
    name = "x" * 5000
    script = f"for i in $(seq 200); do (exec -a {name} sleep 1000) & done; exit 0"
    peer.start(1, shell=script, stdout=site.path("log1"))
    leftovers = peer.expect("exited", 1)["leftovers"]
    assert (leftovers["count"], len(leftovers["processes"])) == (200, MOST_NAMED)
    assert max(len(process["command"]) for process in leftovers["processes"]) == COMMAND_CHARS
    assert len(json.dumps(leftovers)) < 4096


def test_process_that_outlives_a_stopped_command_is_named(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell=STUBBORN + "echo ready; wait", stdout=site.path("log1"))
    eventually(lambda: site.text("log1"))
    peer.signal(1, signal.SIGTERM, 0.5)
    exited = peer.expect("exited", 1)
    assert exited["signalled"] is True
    assert exited["leftovers"]["count"] >= 1


def test_process_that_outlives_a_command_at_its_time_limit_is_named(site: Site, peer: AgentPeer) -> None:
    peer.start(
        1, shell=STUBBORN + "wait", stdout=site.path("log1"), limit_s=0.2, stop_signal=signal.SIGTERM, grace_s=0.5
    )
    exited = peer.expect("exited", 1)
    assert exited["timed_out"] is True
    assert exited["leftovers"]["count"] >= 1


def test_shim_killed_among_them_loses_nothing(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell=STUBBORN + "exit 7", stdout=site.path("log1"))
    eventually(lambda: site.text("agent/runs/1.1/left.json").strip())
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["leftovers"]["count"] >= 1) == (7, True)


def test_shim_killed_before_the_command_ends_leaves_the_agent_to_name_them(site: Site, peer: AgentPeer) -> None:
    script = f"sleep 1000 & echo ready; while [ ! -e {site.path('go')} ]; do sleep 0.01; done"
    peer.start(1, shell=script, stdout=site.path("log1"))
    eventually(lambda: site.text("log1"))
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    peer.expect("lost", 1, alive=True)
    (site.state / "go").touch()
    gone = peer.expect("gone", 1)
    assert "sleep 1000" in [process["command"] for process in gone["leftovers"]["processes"]]
    site.kill_agent()
    (again,) = site.boot().hello["runs"]
    assert again["leftovers"] == gone["leftovers"]
