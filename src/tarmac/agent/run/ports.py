"""Picks a port for each job's MASTER_PORT: free now, below the ephemeral range, and not given out twice."""

from __future__ import annotations

import os
import socket
from typing import Set

FIRST = 20000
COUNT = 12000


class Ports:
    def __init__(self) -> None:
        self._taken: Set[int] = set()
        # Two agents on one machine should not try the same ports in the same order.
        self._next = os.getpid() * 97 % COUNT

    def take(self) -> int:
        for _ in range(COUNT):
            port = FIRST + self._next
            self._next = (self._next + 1) % COUNT
            if port not in self._taken and _is_free(port):
                self._taken.add(port)
                return port
        raise OSError(f"no free port between {FIRST} and {FIRST + COUNT - 1}")

    def reserve(self, port: int) -> None:
        """Mark the port of an attempt that an earlier agent started."""
        self._taken.add(port)

    def release(self, port: int) -> None:
        self._taken.discard(port)


def _is_free(port: int) -> bool:
    try:
        sock = socket.socket(socket.AF_INET6)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        address = "::"
    except OSError:  # a machine without IPv6
        sock = socket.socket(socket.AF_INET)
        address = ""
    try:
        sock.bind((address, port))
    except OSError:
        return False
    finally:
        sock.close()
    return True
