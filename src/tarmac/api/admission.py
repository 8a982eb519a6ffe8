"""How many connections are served. No peer can use up the descriptors, and none can lock out the others.

A part of all places is left for other peers, and a part of each peer's places for short requests: while thousands of
its clients wait for a job, `status` and `kill` still work. Connections without a request give way to new ones.
"""

from __future__ import annotations

import enum
import os
import resource
from collections import Counter
from typing import Protocol

MOST = 16_384
FEWEST = 16
SPARE = 3  # descriptors; without any, connections could not even be accepted and refused
OTHERS_PART = 8  # an eighth of all places is for peers other than the one with the most connections
SHORT_PART = 4  # a quarter of a peer's places is for short requests


class Place(enum.Enum):
    ORDINARY = "ordinary"
    SHORT = "short"  # for requests that are answered at once
    NONE = "none"


class Guest(Protocol):
    """A connection. While it is idle, it may be asked to leave."""

    def evict(self) -> None: ...


class Admission:
    def __init__(self, most: int) -> None:
        self._most = most
        self._of_peer = most - max(1, most // OTHERS_PART)
        self._ordinary = self._of_peer - max(1, self._of_peer // SHORT_PART)
        self._open: Counter[int] = Counter()
        self._idle: dict[int, dict[Guest, None]] = {}  # of each peer, the one that is idle for the longest time first

    def enter(self, uid: int, descriptor: int) -> Place:
        """What a new connection of this peer may be used for. If it has a place, it must `leave` at its end."""
        left = _limit() - descriptor  # the kernel gives the lowest free number
        mine = self._open[uid] + 1
        if mine <= self._ordinary and self._open.total() < self._most and left > _reserve():
            place = Place.ORDINARY
        elif (mine <= self._of_peer and self._open.total() < self._most and left > SPARE) or self._evict_one(uid):
            place = Place.SHORT
        else:
            return Place.NONE
        self._open[uid] = mine
        return place

    def leave(self, uid: int, guest: Guest) -> None:
        self.is_busy(uid, guest)
        self._open[uid] -= 1
        if not self._open[uid]:
            del self._open[uid]
            self._idle.pop(uid, None)

    def is_idle(self, uid: int, guest: Guest) -> None:
        """The connection has no complete request."""
        self._idle.setdefault(uid, {})[guest] = None

    def is_busy(self, uid: int, guest: Guest) -> None:
        self._idle.get(uid, {}).pop(guest, None)

    def _evict_one(self, uid: int) -> bool:
        """Ask the connection that is idle for the longest time to leave."""
        guest = next(iter(self._idle.get(uid, ())), None)
        if guest is None:
            return False
        self.is_busy(uid, guest)
        guest.evict()
        return True


def places() -> int:
    """As many as descriptors are left now, minus a reserve for our own files and for refusing the rest."""
    used = len(os.listdir("/proc/self/fd"))
    return max(FEWEST, min(MOST, _limit() - used - _reserve()))


def _reserve() -> int:
    return min(128, _limit() // 4)


def _limit() -> int:
    """The limit may be lowered while we run."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 30 if limit == resource.RLIM_INFINITY else limit
