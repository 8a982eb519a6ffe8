"""Agents that run out of file descriptors: nothing is lost, nothing runs twice, and nothing spins."""

from __future__ import annotations

import os
import resource
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tarmac.agent.main import Ready
from tests.agent_peer import AgentPeer, Site, children, eventually, is_alive

LOG_LINES = 200  # a loop that spins writes thousands


@pytest.fixture(params=["cgroup", "scan"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path, request.param)
    peer = site.boot()
    if peer.hello["containment"] != request.param:
        site.clean_up()
        pytest.skip(f"no cgroup here: {peer.hello['containment_reason']}")
    yield site
    assert site.agent.poll() is None, "the agent survives"
    site.clean_up()
    log = site.text("agent/agent.log")
    assert "unexpected error" not in log, log
    assert len(log.splitlines()) < LOG_LINES, log[-2000:]


def descriptors(pid: int) -> list[int]:
    return sorted(map(int, os.listdir(f"/proc/{pid}/fd")))


@contextmanager
def none_left(pid: int) -> Iterator[None]:
    """The process can open nothing at all."""
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def line(site: Site, job: int) -> str:
    return site.text(f"{job}.ran")


def start(site: Site, peer: AgentPeer, job: int, then: str = "sleep 300") -> None:
    peer.start(job, shell=f"echo x >> {site.path(f'{job}.ran')}; {then}", stdout=site.path(f"{job}.log"))


def test_starts_wait_for_descriptors(site: Site, peer: AgentPeer) -> None:
    """Many more than fit. Some wait until others have ended."""
    limit = max(descriptors(site.agent.pid)) + 24
    resource.prlimit(site.agent.pid, resource.RLIMIT_NOFILE, (limit, limit))
    jobs = range(1, 31)
    for job in jobs:
        start(site, peer, job, f"until [ -e {site.path('go')} ]; do sleep 0.05; done")
    peer.expect("started", 1)
    eventually(lambda: "trying again" in site.text("agent/agent.log"), "a start that waits")
    site.connect().settle()
    peer = site.peers[-1]
    for job in jobs:  # a new controller decides anew about what has left no trace
        start(site, peer, job, f"until [ -e {site.path('go')} ]; do sleep 0.05; done")
    Path(site.path("go")).touch()
    ended = {}
    while len(ended) < len(jobs):
        frame = peer.expect("exited")  # of any job: the others wait until this one is forgotten
        ended[frame["job"]] = frame["exit_code"]
        peer.forget(frame["job"])
    assert set(ended.values()) == {0}
    assert [line(site, job) for job in jobs] == ["x\n"] * len(jobs)


def test_a_start_that_waits_can_be_stopped(site: Site, peer: AgentPeer) -> None:
    with none_left(site.agent.pid):
        for job in range(1, 6):  # more than there are idle shims
            start(site, peer, job)
        eventually(lambda: "job 5.1" in site.text("agent/agent.log") or peer.settle(), "the start of job 5")
        peer.signal(5, signal.SIGTERM, 0)
        assert "stopped before it started" in peer.expect("launch_failed", 5)["message"]
    peer.expect("started", 4)
    peer.settle()
    assert line(site, 5) == ""


def test_a_stop_is_not_lost(site: Site, peer: AgentPeer) -> None:
    start(site, peer, 1)
    pid = peer.expect("started", 1)["pid"]
    with none_left(site.agent.pid):
        peer.signal(1, signal.SIGTERM, 0)
        peer.settle()
        eventually(lambda: "Too many open files" in site.text("agent/agent.log"), "the shortage")
    assert peer.expect("exited", 1)["signal"] in {signal.SIGTERM, signal.SIGKILL}
    assert not is_alive(pid)


def test_a_process_that_cannot_be_looked_at_has_not_ended(site: Site, peer: AgentPeer) -> None:
    start(site, peer, 1)
    pid = peer.expect("started", 1)["pid"]
    with none_left(site.agent.pid):
        os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
        eventually(lambda: "trying again" in site.text("agent/agent.log"), "the shortage")
        peer.settle()
        assert not [frame for frame in peer.inbox if frame.get("job") == 1], "nothing is known yet"
        assert is_alive(pid)
    assert peer.expect("lost", 1)["alive"] is True
    assert line(site, 1) == "x\n", "it was not started again"
    os.kill(pid, signal.SIGKILL)
    peer.expect("gone", 1)


def test_an_end_is_reported(site: Site, peer: AgentPeer) -> None:
    start(site, peer, 1, f"until [ -e {site.path('go')} ]; do sleep 0.05; done")
    peer.expect("started", 1)
    with none_left(site.agent.pid):
        Path(site.path("go")).touch()
        assert peer.expect("exited", 1)["exit_code"] == 0
        peer.forget(1)
        peer.settle()
    start(site, peer, 2, "true")
    assert peer.expect("exited", 2)["exit_code"] == 0


def pauses(pid: int) -> int:
    """How often the process has waited for something."""
    fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["voluntary_ctxt_switches"])


@pytest.mark.parametrize("limit_s", [None, 3.0], ids=["at the end", "at the time limit"])
def test_a_shim_waits_for_descriptors_to_end_what_is_left(site: Site, peer: AgentPeer, limit_s: float | None) -> None:
    go, left = site.path("go"), site.path("left")
    script = f"sleep 300 & echo $! > {left}; trap 'exit 3' TERM; until [ -e {go} ]; do sleep 0.01; done; exit 3"
    peer.start(1, shell=script, stdout=site.path("log"), limit_s=limit_s, stop_signal=15, grace_s=5.0)
    pid = peer.expect("started", 1)["pid"]
    straggler = int(eventually(lambda: site.text("left").strip()))
    shim = site.record(1)["shim_pid"]
    with none_left(shim):
        if limit_s is None:
            Path(go).touch()
            eventually(lambda: not Path(f"/proc/{pid}").exists(), "the end of the command")
        before = pauses(shim)
        eventually(lambda: not is_alive(shim) or pauses(shim) > before + 5, "the shim waits")
        assert is_alive(shim)
        assert is_alive(straggler)
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["timed_out"]) == (3, limit_s is not None)
    eventually(lambda: not is_alive(straggler), "the straggler is ended")


def test_a_new_controller_is_served_when_there_is_room_again(site: Site, peer: AgentPeer) -> None:
    with none_left(site.agent.pid):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(site.path("agent/agent.sock"))
        eventually(lambda: "listener: Too many open files" in site.text("agent/agent.log"), "the shortage")
        peer.settle()
    sock.close()
    later = site.connect()
    later.settle()
    assert later.hello["runs"] == []


def test_a_killed_probe_comes_back(site: Site, peer: AgentPeer) -> None:
    peer.expect("gpus")
    (probe,) = children(site.agent.pid, "tarmac-probe")
    with none_left(site.agent.pid):
        os.kill(probe, signal.SIGKILL)
        eventually(lambda: "GPU probe: Too many open files" in site.text("agent/agent.log"), "the shortage")
        peer.settle()
    assert eventually(lambda: set(children(site.agent.pid, "tarmac-probe")) - {probe}, "a new probe")


def test_many_connections_do_not_exhaust_it(site: Site, peer: AgentPeer) -> None:
    limit = max(descriptors(site.agent.pid)) + 40
    resource.prlimit(site.agent.pid, resource.RLIMIT_NOFILE, (limit, limit))
    strangers = []
    for _ in range(100):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(site.path("agent/agent.sock"))
        strangers.append(sock)
        peer.settle()
    assert len(descriptors(site.agent.pid)) < limit
    start(site, peer, 1, "true")
    assert peer.expect("exited", 1)["exit_code"] == 0
    for sock in strangers:
        sock.close()


def test_nothing_is_written_to_a_descriptor_that_was_closed() -> None:
    """Its number belongs to something else by then, such as the channel to a shim."""
    read_fd, write_fd = os.pipe()
    ready = Ready(write_fd)
    assert ready.say("ready\n")
    another_read, another_write = os.pipe()
    assert write_fd in {another_read, another_write}
    assert not ready.say("error: too many open files\n")
    os.close(another_write)
    assert os.read(another_read, 100) == b""
    os.close(another_read)
    os.close(read_fd)
