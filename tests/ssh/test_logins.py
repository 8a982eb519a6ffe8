"""Nodes that want more than a key on the disk: an ssh-agent, or a log-in in the user's terminal."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tarmac.paths import ssh_control_directory
from tests.home import Home, homes, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ssh.lab import Lab

PASSPHRASE = "correct horse"


@pytest.fixture
def home(lab: Lab) -> Iterator[Home]:
    """The key of this queue's user has a passphrase."""
    lab.host("gpu02")
    key = str(lab.path / "key")
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", PASSPHRASE, "-f", key], check=True, capture_output=True)
    for made in homes(lab.path / "home", gpus="0"):
        made.environment = {**lab.environment, **made.environment, "PATH": lab.environment["PATH"]}
        yield made


@pytest.fixture
def typing(lab: Lab) -> dict[str, str]:
    """The variables of a person who types the passphrase when ssh asks for it."""
    program = lab.path / "types-the-passphrase"
    program.write_text(f"#!/bin/sh\necho '{PASSPHRASE}'\n")
    program.chmod(0o755)
    return {"SSH_ASKPASS": str(program), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}


@pytest.fixture
def agent(lab: Lab, typing: dict[str, str]) -> Iterator[str]:
    """The socket of an ssh-agent that has the key."""
    path = str(lab.path / "agent.sock")
    with subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL) as running:
        assert until(lambda: Path(path).exists())
        environment = {**os.environ, **typing, "SSH_AUTH_SOCK": path}
        subprocess.run(["ssh-add", str(lab.path / "key")], env=environment, check=True, capture_output=True)
        yield path
        running.kill()


def is_connected(home: Home) -> bool:
    return any(node["name"] == "gpu02" and node["connected"] for node in home.client().status()["nodes"])


def test_a_host_that_wants_a_log_in_is_refused_with_what_to_do(home: Home) -> None:
    refused = home.tarmac("node", "add", "gpu02")
    assert refused.returncode == 2
    assert "gpu02 refused the log-in: root@" in refused.stderr
    assert "Permission denied" in refused.stderr
    assert "tarmac node login" in refused.stderr


def test_the_ssh_agent_of_the_newest_command_is_used(home: Home, agent: str) -> None:
    assert home.tarmac("node", "add", "gpu02", "--later").returncode == 0
    assert until(lambda: home.tarmac("node", "add", "gpu02", "--name", "again").returncode == 2)
    assert not is_connected(home)
    assert home.tarmac("ls", env={"SSH_AUTH_SOCK": agent}).returncode == 0
    assert until(lambda: is_connected(home))


def test_a_login_in_the_terminal_is_shared_with_the_controller(home: Home, typing: dict[str, str]) -> None:
    assert home.tarmac("node", "add", "gpu02", "--later").returncode == 0
    done = home.tarmac("node", "login", "gpu02", env=typing)
    assert done.returncode == 0, done.stderr
    assert until(lambda: is_connected(home))
    job = home.add("--cwd", "/", "true")
    assert home.client().wait(job, timeout_s=60)[0].node == "gpu02"
    subprocess.run(["pkill", "-f", f"{ssh_control_directory(str(home.path))}/"], check=True)  # the log-in expires
    assert until(lambda: not is_connected(home))
    assert until(lambda: "Permission denied" in home.tarmac("status").stdout)
