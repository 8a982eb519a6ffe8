"""The `ssh` command of links, as the user's own `ssh` understands it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tarmac.nodes.ssh.target import SshTarget, link_command

if TYPE_CHECKING:
    from pathlib import Path


def understood(command: list[str], config: Path) -> dict[str, str]:
    """The options that `ssh` would use, with this config file."""
    said = subprocess.run(
        [command[0], "-F", str(config), "-G", *command[1:]], check=True, capture_output=True, text=True
    )
    return dict(line.split(" ", 1) for line in said.stdout.splitlines() if " " in line)


def test_a_config_for_people_does_not_change_links(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        "Host gpu02\n HostName gpu02.example.org\n RemoteCommand tmux attach\n RequestTTY force\n ForwardAgent yes\n"
        " ControlMaster auto\n ControlPath /tmp/%C\n StrictHostKeyChecking no\n"
    )
    options = understood(link_command(SshTarget(host="gpu02", user="alice", port=2222), tmp_path), config)
    assert (options["hostname"], options["user"], options["port"]) == ("gpu02.example.org", "alice", "2222")
    assert options.get("remotecommand", "none") == "none"
    assert (options["controlmaster"], options["forwardagent"], options["batchmode"]) == ("false", "no", "yes")
    assert options["controlpath"].startswith("/tmp/")  # a connection that the user has opened is shared
    assert options["stricthostkeychecking"] in {"true", "yes"}


def test_a_host_is_never_taken_for_an_option(tmp_path: Path) -> None:
    command = link_command(SshTarget(host="-oProxyCommand=false"), tmp_path)
    assert command[-2:] == ["--", "-oProxyCommand=false"]
