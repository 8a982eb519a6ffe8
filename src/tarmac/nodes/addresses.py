"""Where nodes reach each other, for the parts of a job on several nodes."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.core.model.ids import NodeName
    from tarmac.nodes.fleet import Fleet

LOOPBACK = "127.0.0.1"
ELSEWHERE = ("192.0.2.1", 9)  # reserved for documentation: nothing is sent there, the kernel only looks for a way


def addresses_of(fleet: Fleet, nodes: Sequence[NodeName]) -> list[str]:
    """The address of each node. The loopback address serves nodes that are all on this machine."""
    known = [fleet.address(node) for node in nodes]
    if all(address is None for address in known):
        return [LOOPBACK for _ in nodes]
    own = own_address()
    return [address or own for address in known]


def own_address() -> str:
    """The address of this machine on the network that its traffic takes by default; its host name if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(ELSEWHERE)
        except OSError:
            return socket.gethostname()
        return str(sock.getsockname()[0])
