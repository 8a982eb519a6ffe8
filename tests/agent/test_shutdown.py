"""An agent that is told to end while jobs are being stopped: what it promised is done first."""

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
    eventually(lambda: "asked to end" in site.text("agent/agent.log"), "the agent knows that it is to end")


@either_way
def test_what_ignores_its_signal_is_killed_although_the_agent_was_told_to_end(
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


def test_whoever_ends_the_agent_is_told_what_it_waits_for_and_let_go(site: Site, peer: AgentPeer) -> None:
    start_stubborn(site, peer)
    peer.signal(1, signal.SIGTERM, FOR_EVER_S)
    assert peer.ask("shutdown", "ending")["stops"] == 1
    peer.expect_closed()
    assert site.agent.poll() is None


def test_an_agent_without_anything_to_stop_says_so_and_ends(site: Site, peer: AgentPeer) -> None:
    start_stubborn(site, peer)
    assert peer.ask("shutdown", "ending")["stops"] == 0
    assert site.agent.wait(DEADLINE_S) == 0


@either_way
def test_a_controller_that_comes_meanwhile_takes_the_end_back(site: Site, peer: AgentPeer, tell: Tell) -> None:
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
    # Longer than it takes to see that nothing is left to wait for.
    back.start(2, argv=["sleep", "1"], stdout=site.path("log"))
    back.expect("exited", 2, exit_code=0)
    assert back.hello["pid"] == site.agent.pid


def test_an_agent_that_is_replaced_ends_at_once_and_the_next_one_keeps_its_promise(site: Site, peer: AgentPeer) -> None:
    pid = start_stubborn(site, peer)
    peer.signal(1, signal.SIGTERM, 3.0)
    peer.send(type="shutdown", is_replaced=True)
    assert site.agent.wait(DEADLINE_S) == 0
    assert "asked to end" not in site.text("agent/agent.log")
    site.boot()
    eventually(lambda: not is_alive(pid), "the end of the job")


def test_what_cannot_be_seen_to_end_does_not_keep_the_agent_for_ever(site: Site, peer: AgentPeer) -> None:
    pid = start_stubborn(site, peer)
    shim = site.record(1)["shim_pid"]
    os.kill(shim, signal.SIGSTOP)
    peer.signal(1, signal.SIGTERM, 0.1)
    peer.send(type="shutdown")
    assert site.agent.wait(DEADLINE_S) == 0
    assert not is_alive(pid)
    os.kill(shim, signal.SIGCONT)
