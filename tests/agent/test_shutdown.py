"""Shutting down an agent while jobs are being stopped: it completes the stops first."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from tests.agent_peer import DEADLINE_S, AgentPeer, Site, eventually, is_alive

FOR_EVER_S = 600.0
STUBBORN = "trap '' TERM; echo > {ready}; while :; do sleep 0.05; done"


def by_frame(_: Site, peer: AgentPeer) -> None:
    peer.send(type="shutdown")


def by_signal(site: Site, _: AgentPeer) -> None:
    site.agent.terminate()


either_way = pytest.mark.parametrize("tell", [by_frame, by_signal])
Tell = Callable[[Site, AgentPeer], None]


def start_stubborn(site: Site, peer: AgentPeer, job: int = 1) -> int:
    peer.start(job, shell=STUBBORN.format(ready=site.path(f"ready{job}")), stdout=site.path("log"))
    pid = int(peer.expect("started", job)["pid"])
    eventually(lambda: os.path.exists(site.path(f"ready{job}")), "the job ignores TERM")
    return pid


def await_ending(site: Site) -> None:
    eventually(lambda: "asked to end" in site.text("agent/agent.log"), "the shutdown")


@either_way
def test_process_that_ignores_its_signal_is_killed_before_the_agent_ends(
    site: Site, peer: AgentPeer, tell: Tell
) -> None:
    pids = [start_stubborn(site, peer, job) for job in (1, 2)]
    other = start_stubborn(site, peer, 3)
    peer.signal(1, signal.SIGTERM, 0.5)
    peer.signal(2, signal.SIGTERM, 1.0)
    peer.settle()
    tell(site, peer)
    assert site.agent.wait(DEADLINE_S) == 0
    assert not any(is_alive(pid) for pid in pids)
    assert is_alive(other), "nobody asked for its end"


def test_shutdown_answers_with_the_pending_stops_and_closes_the_connection(site: Site, peer: AgentPeer) -> None:
    start_stubborn(site, peer)
    peer.signal(1, signal.SIGTERM, FOR_EVER_S)
    assert peer.ask("shutdown", "ending")["stops"] == 1
    peer.expect_closed()
    assert site.agent.poll() is None


def test_agent_without_pending_stops_says_so_and_ends(site: Site, peer: AgentPeer) -> None:
    start_stubborn(site, peer)
    assert peer.ask("shutdown", "ending")["stops"] == 0
    assert site.agent.wait(DEADLINE_S) == 0


@either_way
def test_controller_that_connects_meanwhile_cancels_the_shutdown(site: Site, peer: AgentPeer, tell: Tell) -> None:
    pid = start_stubborn(site, peer)
    peer.signal(1, signal.SIGTERM, FOR_EVER_S)
    peer.settle()
    tell(site, peer)
    await_ending(site)
    back = site.connect()
    assert [run["type"] for run in back.hello["runs"]] == ["started"]
    back.signal(1, signal.SIGKILL, 0)
    back.expect("exited", 1, signal=9)
    assert not is_alive(pid)
    # Longer than the agent takes to notice that no stop is pending.
    back.start(2, argv=["sleep", "1"], stdout=site.path("log"))
    back.expect("exited", 2, exit_code=0)
    assert back.hello["pid"] == site.agent.pid


def test_replaced_agent_ends_at_once_and_the_next_one_completes_its_stops(site: Site, peer: AgentPeer) -> None:
    pid = start_stubborn(site, peer)
    peer.signal(1, signal.SIGTERM, 3.0)
    peer.send(type="shutdown", is_replaced=True)
    assert site.agent.wait(DEADLINE_S) == 0
    assert "asked to end" not in site.text("agent/agent.log")
    site.boot()
    eventually(lambda: not is_alive(pid), "the end of the job")


def test_unkillable_process_does_not_keep_the_agent_running(site: Site, peer: AgentPeer) -> None:
    pid = start_stubborn(site, peer)
    shim = site.record(1)["shim_pid"]
    os.kill(shim, signal.SIGSTOP)
    peer.signal(1, signal.SIGTERM, 0.1)
    peer.send(type="shutdown")
    assert site.agent.wait(DEADLINE_S) == 0
    assert not is_alive(pid)
    os.kill(shim, signal.SIGCONT)
