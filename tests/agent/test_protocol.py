"""The agent's end of a connection: frames, hello, other users, malformed data."""

from __future__ import annotations

import os
import shutil
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.shared.protocol import MAX_FRAME_BYTES, PROTOCOL, Decoder, ProtocolError, encode
from tarmac.shared.system import sockets
from tests.agent_peer import AgentPeer, Site, eventually, is_alive, start_agent


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """One agent: the kind of containment does not matter here."""
    site = Site(tmp_path, "scan")
    site.boot()
    yield site
    site.clean_up()


def test_frames_are_complete_however_the_stream_is_split() -> None:
    messages = [{"type": "a", "text": "ü🛫\udcff"}, {"type": "b"}, {"type": "c", "n": [1, None]}]
    data = b"".join(map(encode, messages))
    for size in (1, 3, 7, len(data)):
        decoder = Decoder()
        assert [m for i in range(0, len(data), size) for m in decoder.feed(data[i : i + size])] == messages


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"{}", b'{"type":1}', b"\xff\xfe", b"[" * 100_000])
def test_data_that_is_not_a_frame_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        Decoder().feed(struct.pack(">I", len(body)) + body)


def test_oversize_frames_are_refused_on_both_ends() -> None:
    with pytest.raises(ProtocolError, match="over the limit"):
        Decoder().feed(struct.pack(">I", MAX_FRAME_BYTES + 1))
    with pytest.raises(ProtocolError, match="over the limit"):
        encode({"type": "x", "data": "x" * MAX_FRAME_BYTES})


def test_hello_says_who_and_where(site: Site, peer: AgentPeer) -> None:
    assert peer.hello["node"] == socket.gethostname()
    assert peer.hello["pid"] == site.agent.pid
    assert peer.hello["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert (peer.hello["protocol"], peer.hello["containment"], peer.hello["runs"]) == (PROTOCOL, "scan", [])
    assert peer.hello["containment_reason"]


def test_gpus_are_reported_on_every_connection(site: Site, peer: AgentPeer) -> None:
    first = peer.expect("gpus")
    assert (len(first["gpus"]), first["source"]) == (2, "fake")
    assert site.connect().expect("gpus") == first


def test_probe_that_dies_is_restarted(site: Site, peer: AgentPeer) -> None:
    peer.expect("gpus")
    children = Path(f"/proc/{site.agent.pid}/task/{site.agent.pid}/children").read_text().split()
    os.kill(int(children[0]), 9)
    eventually(
        lambda: Path(f"/proc/{site.agent.pid}/task/{site.agent.pid}/children").read_text().split() not in ([], children)
    )
    assert site.connect().expect("gpus")["source"] == "fake"


def test_ping_is_answered(site: Site, peer: AgentPeer) -> None:
    assert peer.ask("ping", "pong") == {"type": "pong", "ref": 77}


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", struct.pack(">I", 2) + b"[]", b"\xff" * 64])
def test_nonsense_closes_that_connection_only(site: Site, peer: AgentPeer, data: bytes) -> None:
    peer.sock.sendall(data)
    peer.expect_closed()
    assert site.connect().ask("ping", "pong")


def test_unknown_and_malformed_requests_are_survived(site: Site, peer: AgentPeer) -> None:
    peer.send(type="make-coffee")
    peer.send(type="start")
    peer.send(type="start", job="x", attempt=None)
    peer.send(type="signal", job=1, attempt=1)
    peer.send(type="read_log", ref=1)
    assert peer.ask("ping", "pong")


@pytest.mark.parametrize("number", [0, -1, 65, "TERM", None, True])
def test_invalid_signal_is_not_sent(site: Site, peer: AgentPeer, number: object) -> None:
    peer.start(1, shell="echo $$; exec sleep 1000", stdout=site.path("log"))
    pid = int(eventually(lambda: site.text("log")))
    peer.send(type="signal", job=1, attempt=1, signal=number, grace_s=0)
    peer.settle()
    assert is_alive(pid)
    assert "does not exist" in site.text("agent/agent.log")


def test_new_connection_replaces_the_old(site: Site, peer: AgentPeer) -> None:
    other = site.connect()
    peer.expect_closed()
    assert other.ask("ping", "pong")


def test_another_user_is_refused(site: Site, peer: AgentPeer) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user to try")
    for folder in (site.state, site.state / "agent"):
        folder.chmod(0o755)
    for parent in site.state.parents:
        if parent.owner() == "root" and str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    (site.state / "agent/agent.sock").chmod(0o666)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setuid(65534)
            sock = sockets.connect(str(site.state / "agent/agent.sock"))
            sock.sendall(encode({"type": "hello", "protocol": 1, "version": "0"}))
            code = 0 if sock.recv(1) == b"" else 2
        except ConnectionError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert peer.ask("ping", "pong")


def test_second_agent_leaves_the_first_alone(site: Site, peer: AgentPeer) -> None:
    assert start_agent(site.state).wait(20) == 0
    assert peer.ask("ping", "pong")
    assert site.connect().hello["pid"] == site.agent.pid


def test_shutdown_ends_the_agent(site: Site, peer: AgentPeer) -> None:
    peer.send(type="shutdown")
    assert site.agent.wait(20) == 0


def test_stale_socket_file_is_replaced(site: Site, peer: AgentPeer) -> None:
    site.kill_agent()
    assert (site.state / "agent/agent.sock").exists()
    assert site.boot().ask("ping", "pong")


def test_path_longer_than_a_socket_address_works(tmp_path: Path) -> None:
    site = Site(tmp_path / ("x" * 100) / ("y" * 100), "scan")
    site.state.mkdir(parents=True)
    peer = site.boot()
    peer.start(1, argv=["true"], stdout=site.path("log"))
    assert peer.expect("exited", 1)["exit_code"] == 0
    site.clean_up()


def test_peer_that_does_not_read_does_not_stop_the_agent(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x" * 1_000_000)
    for ref in range(60):
        peer.send(type="read_log", ref=ref, path=str(tmp_path / "log"), offset=0, limit=1_000_000)
    assert site.connect().ask("ping", "pong")


def test_connection_that_does_not_begin_with_hello_is_closed(site: Site, peer: AgentPeer) -> None:
    stranger = AgentPeer(site.state, hello=False)
    stranger.send(type="shutdown")
    stranger.expect_closed()
    stranger.close()
    assert peer.ask("ping", "pong")


def test_agent_ends_when_its_folder_is_removed(site: Site, peer: AgentPeer) -> None:
    # Otherwise a run folder may be created inside one that is being removed, and rmtree would fail.
    eventually(lambda: len(os.listdir(site.path("agent/spare"))) == 2, "two idle shims")
    peer.settle()
    shutil.rmtree(site.path("agent"))
    assert site.agent.wait(20) == 0
    os.makedirs(site.path("agent/runs"))
