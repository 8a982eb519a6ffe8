"""Copies bytes between the link (standard input and output) and the agent's socket, until either side ends."""

from __future__ import annotations

import os
import select
import socket
from typing import Dict, Tuple

_PIECE = 1 << 16
_MOST_WAITING = 1 << 20  # per direction; then the source is not read until the other side has caught up


class _Direction:
    """One way of the copy."""

    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self.target = target
        self.waiting = bytearray()

    def read(self) -> bool:
        """False at the end of the source."""
        try:
            data = os.read(self.source, _PIECE)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.waiting += data
        return bool(data)

    def write(self) -> bool:
        """False if the target is gone."""
        try:
            del self.waiting[: os.write(self.target, self.waiting)]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


def relay(sock: socket.socket, reads: int = 0, writes: int = 1) -> None:
    agent = sock.fileno()
    directions = (_Direction(reads, agent), _Direction(agent, writes))
    for descriptor in (reads, writes, agent):
        os.set_blocking(descriptor, False)
    is_open = True
    while is_open:
        ready = _wait(directions)
        for one in directions:
            if ready.get(one.source, 0) & ~select.POLLOUT:
                is_open = one.read() and is_open
            if one.waiting:
                is_open = one.write() and is_open


def _wait(directions: Tuple[_Direction, ...]) -> Dict[int, int]:
    """What happened, by descriptor."""
    events: Dict[int, int] = {}
    for one in directions:
        if len(one.waiting) < _MOST_WAITING:
            events[one.source] = events.get(one.source, 0) | select.POLLIN
        if one.waiting:
            events[one.target] = events.get(one.target, 0) | select.POLLOUT
    poll = select.poll()
    for descriptor, mask in events.items():
        poll.register(descriptor, mask)
    return dict(poll.poll())
