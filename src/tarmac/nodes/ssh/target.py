"""Where a node is, and the `ssh` command that reaches it."""

from __future__ import annotations

import asyncio
import os
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING

from tarmac.paths import ssh_control_directory
from tarmac.records import dataclass
from tarmac.shared.own.environment import own_environment

if TYPE_CHECKING:
    from pathlib import Path

CONNECT_WITHIN_S = 15
RESOLVED_WITHIN_S = 10.0  # the ssh config may ask a name server, or run a program
ALIVE_EVERY_S = 15  # a link that is cut without a word ends after three of these


@dataclass(frozen=True, slots=True, kw_only=True)
class SshTarget:
    """`host` may be an alias of the user's ssh config, which decides everything that is not given here."""

    host: str
    user: str | None = None
    port: int | None = None

    @property
    def words(self) -> list[str]:
        """The options and the host, for an `ssh` command line."""
        words = [] if self.user is None else ["-l", self.user]
        words += [] if self.port is None else ["-p", str(self.port)]
        return [*words, "--", self.host]


def link_command(target: SshTarget, state_folder: Path) -> list[str]:
    """Never asks anything, and never accepts a host key that is not known. The agent of `ssh` is not forwarded."""
    options = {
        "BatchMode": "yes",
        "StrictHostKeyChecking": "yes",
        "ConnectTimeout": str(CONNECT_WITHIN_S),
        "ServerAliveInterval": str(ALIVE_EVERY_S),
        "ServerAliveCountMax": "3",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "ClearAllForwardings": "yes",
        "PermitLocalCommand": "no",
        "RequestTTY": "no",
        "EscapeChar": "none",
        "LogLevel": "ERROR",
        "RemoteCommand": "none",  # one of the user's configuration is for people
        "ControlMaster": "no",  # sessions of the user that share the link would end with it
    }
    if has_login(state_folder):
        options["ControlPath"] = control_path(state_folder)
    return [
        "ssh",
        "-T",
        *(word for name, value in options.items() for word in ("-o", f"{name}={value}")),
        *target.words,
    ]


async def resolved_host(target: SshTarget) -> str | None:
    """The host name behind an alias of the ssh config; None if that takes too long. Connects to nothing."""
    try:
        process = await asyncio.create_subprocess_exec(
            "ssh", "-G", *target.words, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=own_environment(os.environ)
        )
    except FileNotFoundError:
        return None
    try:
        async with asyncio.timeout(RESOLVED_WITHIN_S):
            said, _ = await process.communicate()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            process.kill()
    lines = (line.partition(" ") for line in said.decode("utf-8", "replace").splitlines())
    return next((value for name, _, value in lines if name == "hostname"), None)


def control_path(state_folder: Path) -> str:
    return f"{ssh_control_directory(str(state_folder))}/%C"


def has_login(state_folder: Path) -> bool:
    """True if a connection of `tarmac node login` may be there. Otherwise the user's own control path counts."""
    try:
        return bool(os.listdir(ssh_control_directory(str(state_folder))))
    except OSError:
        return False
