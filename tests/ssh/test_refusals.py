"""Machines that cannot become nodes: `tarmac node add` says what is wrong and how to fix it, and adds nothing."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.nodes.ssh import target
from tarmac.nodes.ssh.failure import LinkFailed
from tests.home import Home, homes, until
from tests.ssh.hosts import Host
from tests.ssh.lab import Lab, make_key
from tests.ssh.links import connect

PYTHON = Path("/usr/bin/python3").resolve()


@pytest.fixture(scope="module")
def host(shared_lab: Lab) -> Host:
    return shared_lab.host("gpu01", refused="bob")


@pytest.fixture(scope="module")
def home(shared_lab: Lab, host: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    for made in homes(tmp_path_factory.mktemp("queue") / "home", gpus="0"):
        made.environment = {**shared_lab.environment, **made.environment, "PATH": shared_lab.environment["PATH"]}
        yield made


@pytest.fixture
def known_hosts(shared_lab: Lab, host: Host) -> Iterator[Path]:
    """A file to change; it is as before afterwards."""
    yield shared_lab.path / "known_hosts"
    shared_lab.write_known_hosts()


def refusal(home: Home, *words: str) -> str:
    """What `tarmac node add` says. The node must not be there afterwards."""
    done = home.tarmac("node", "add", *words)
    assert done.returncode == 2, done.stderr
    assert len(home.client().status()["nodes"]) == 1
    return done.stderr


@contextlib.contextmanager
def mounted(host: Host, *words: str) -> Iterator[None]:
    host.run("mount", *words)
    try:
        yield
    finally:
        host.run("umount", "--lazy", words[-1])


def test_a_key_that_the_host_does_not_accept(home: Home) -> None:
    said = refusal(home, "bob@gpu01")
    assert "tarmac: gpu01 refused the log-in: bob@" in said
    assert "Permission denied (publickey)" in said
    assert "check that `ssh gpu01` works without a password" in said


def test_a_host_key_that_has_changed(known_hosts: Path, home: Home, host: Host) -> None:
    make_key(host.folder / "other")
    known_hosts.write_text(f"{host.address} {(host.folder / 'other.pub').read_text()}")
    for words in (("gpu01",), ("gpu01", "--accept-new")):
        said = refusal(home, *words)
        assert "the host key of gpu01 has changed" in said
        assert "ssh-keygen -R gpu01" in said


def test_a_host_key_that_is_not_known(known_hosts: Path, home: Home) -> None:
    known_hosts.write_text("")
    said = refusal(home, "gpu01")
    assert "the host key of gpu01 is not known" in said
    assert "--accept-new" in said
    assert not known_hosts.read_text()


@pytest.mark.parametrize(
    ("stand_in", "said"),
    [
        (None, "gpu01 has no Python 3.8 or newer\n"),
        ("3.6", "gpu01 has no Python 3.8 or newer; the newest there is 3.6\n"),
    ],
    ids=["none", "3.6"],
)
def test_a_host_without_a_python_that_can_run_the_agent(
    home: Home, host: Host, stand_in: str | None, said: str
) -> None:
    script = host.folder / "python"
    script.write_text(f"#!/bin/sh\necho {stand_in}\n")
    script.chmod(0o755 if stand_in else 0o644)
    with mounted(host, "--bind", str(script), str(PYTHON)):
        answer = refusal(home, "alice@gpu01")
    assert said in answer
    assert "install python3 there; nothing else is needed" in answer


@pytest.mark.parametrize("limit", ["size=64k", "nr_inodes=8"])
def test_a_host_whose_disk_is_full(home: Home, host: Host, limit: str) -> None:
    options = f"{limit},mode=700,uid=2001,gid=2001"
    with mounted(host, "-t", "tmpfs", "-o", options, "tmpfs", str(host.home("alice"))):
        said = refusal(home, "alice@gpu01")
        left = host.run("find", ".", "-name", "*.zip.*", user="alice").stdout
    assert "the agent cannot be started on gpu01: " in said
    assert "No space left on device" in said
    assert "fix that on gpu01, then try again" in said
    assert not left


def test_a_host_that_does_not_exist(home: Home) -> None:
    assert "nowhere.invalid cannot be reached: " in refusal(home, "nowhere.invalid")


def test_a_port_at_which_nobody_listens(home: Home) -> None:
    said = refusal(home, "gpu01", "--port", "2222")
    assert "gpu01 cannot be reached: " in said
    assert "Connection refused" in said


def test_a_host_that_accepts_the_connection_and_says_nothing(shared_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "CONNECT_WITHIN_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(LinkFailed) as raised:
        connect(shared_lab, "127.0.0.1", port=listener.getsockname()[1])
    assert raised.value.kind == "unreachable"
    assert "timed out during banner exchange" in raised.value.said


@pytest.mark.parametrize("word", ["-oProxyCommand=touch x", "root@-oProxyCommand=x", "-gpu01", "gpu 01"])
def test_a_host_that_ssh_would_take_for_an_option(home: Home, word: str) -> None:
    done = home.tarmac("node", "add", "--name", "x", "--", word)
    assert done.returncode == 2
    assert "is not a host" in done.stderr
    assert "without options" in done.stderr


def test_this_machine_is_a_node_already(home: Home, host: Host) -> None:
    """Recognized by its boot id, which the host shares here for a moment."""

    def agents() -> list[int]:
        return sorted(pid for pid, line in host.processes().items() if "tarmac: agent" in line)

    boot_id, before = (host.folder / "boot_id").read_text(), agents()
    (host.folder / "boot_id").write_text(Path("/proc/sys/kernel/random/boot_id").read_text())
    done = home.tarmac("node", "add", "alice@gpu01")
    (host.folder / "boot_id").write_text(boot_id)
    assert done.returncode == 2, done.stderr
    assert f"gpu01 is the same machine as node {os.uname().nodename}" in done.stderr
    assert until(lambda: agents() == before), "its agent must not stay"


def test_a_machine_is_added_once(known_hosts: Path, home: Home, host: Host) -> None:
    """With a new host key, which `--accept-new` accepts. The last test of this file: the node stays."""
    known_hosts.write_text("")
    done = home.tarmac("node", "add", "gpu01", "--accept-new")
    assert done.returncode == 0, done.stderr
    assert host.public_key.split()[1] in known_hosts.read_text()
    again = home.tarmac("node", "add", "gpu01")
    assert "a node named gpu01 already exists" in again.stderr
    other = home.tarmac("node", "add", f"alice@{host.address}", "--name", "gpu02")
    assert other.returncode == 2
    assert "gpu02 is the same machine as node gpu01" in other.stderr
    assert "nothing was added" in other.stderr
    # One that is added unseen is recognized when it can be reached.
    assert home.tarmac("node", "add", f"alice@{host.address}", "--name", "gpu03", "--later").returncode == 0
    assert until(lambda: "same-machine: gpu01" in (home.path / "controller.log").read_text())
    assert {gpu.node for gpu in home.client().gpus()} == {"gpu01"}
