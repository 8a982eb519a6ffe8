"""Runs `ssh` in the user's terminal, where it may ask about host keys, passwords and second factors."""

from __future__ import annotations

import os
import subprocess

from tarmac.errors import Unavailable
from tarmac.paths import make_private, ssh_control_directory, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.remote.address import Address

LOGIN_LASTS = "24h"


def can_ask() -> bool:
    """True if there is a terminal to ask at."""
    return os.isatty(0) and os.isatty(2)


def learn_host_key(target: Address, *, accept_new: bool) -> None:
    """Connect once, so that `ssh` asks about a key it does not know, or accepts it if it is new."""
    checking = "accept-new" if accept_new else "ask"
    batch = "no" if can_ask() else "yes"
    options = [f"StrictHostKeyChecking={checking}", f"BatchMode={batch}", "RemoteCommand=none"]
    words = [word for option in options for word in ("-o", option)]
    _run(["ssh", "-T", "-a", "-x", *words, *target.arguments(), "exit 0"], is_needed=False)


def log_in(target: Address) -> None:
    """Open a connection that the controller may share, until it has not been used for a day."""
    directory = ssh_control_directory(state_folder())
    make_private(directory)
    options = {
        "ControlMaster": "yes",
        "ControlPath": os.path.join(directory, "%C"),
        "ControlPersist": LOGIN_LASTS,
        "ServerAliveInterval": "15",
        "ForwardAgent": "no",
        "ForwardX11": "no",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    _run(["ssh", "-f", "-N", "-T", *words, *target.arguments()], is_needed=True)


def _run(command: Sequence[str], *, is_needed: bool) -> None:
    try:
        code = subprocess.run(command, stdout=2, check=False).returncode
    except FileNotFoundError:
        raise Unavailable("this machine has no `ssh` program", "install the OpenSSH client") from None
    if code and is_needed:
        raise Unavailable(f"ssh ended with code {code}", "see its message above")
