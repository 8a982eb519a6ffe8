"""The page of another machine: `ssh` forwards its port to this one for as long as the command runs."""

from __future__ import annotations

import os
import subprocess

from tarmac.cli.term import signals
from tarmac.client.remote.command import ssh
from tarmac.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.client.remote.address import Address

INTERRUPTED = 130
SHOWN_BY_SSH = "run `tarmac web --port N` with another port if this one is in use here"


def forward(address: Address, url: str, show: Callable[[], None]) -> int:
    """Forward the port of the address until Ctrl-C. `show` is called once it can be opened."""
    port = url.partition("://")[2].partition("/")[0].rpartition(":")[2]
    batch = not (os.isatty(0) or os.isatty(2))
    more = ("-T", "-o", "ExitOnForwardFailure=yes", "-L", f"127.0.0.1:{port}:127.0.0.1:{port}")
    # `cat` ends with this process. Its echo says that the port is forwarded.
    argv = ssh(address, "echo forwarded; exec cat", batch=batch, more=more, forwards=True)
    interrupted: list[int] = []
    signals.on(signals.SIGINT, interrupted.append)  # ssh gets it, too
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        printed = b""
        while b"forwarded\n" not in printed:
            data = os.read(process.stdout.fileno(), 1 << 16)
            if interrupted:
                return INTERRUPTED
            if not data:
                raise Unavailable(f"ssh could not forward port {port} of {address.name}", SHOWN_BY_SSH)
            printed += data
        show()
        process.wait()
    if interrupted:
        return INTERRUPTED
    raise Unavailable(f"the connection to {address.name} has ended", "run `tarmac web` again")
