"""Notices a connection that has broken without a word, as connections over a network do.

Whatever arrives shows that the agent is there, and so does data that leaves. Otherwise the agent is asked, and the
connection of one that does not answer is given up: `ssh` itself notices later, or never if it shares a connection.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.nodes.link import Link

# Counted, not measured: if this process itself was stopped for a while, nothing has been missed.
LOOK_EVERY_S = 5.0
ASKED_AFTER, GIVEN_UP_AFTER = 1, 3  # looks; an idle agent sends something every 10 s
JOINED_WITHIN = 12  # an agent that is stopped joins when it continues


class WentQuiet(ConnectionError):
    """Nothing arrived for so long, although the agent was asked."""

    def __init__(self) -> None:
        super().__init__("the connection went quiet")


async def watch(link: Link, lost: asyncio.Event, is_joined: Callable[[], bool]) -> None:
    """Return when the stream has ended. Raises WentQuiet."""
    before, quiet = link.traffic, 0
    while not lost.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_S):
                await lost.wait()
        now = link.traffic
        quiet = 0 if now.has_moved_since(before) else quiet + 1
        before = now
        if quiet >= (GIVEN_UP_AFTER if is_joined() else JOINED_WITHIN):
            raise WentQuiet
        if quiet >= ASKED_AFTER:
            link.send({"type": "ping"})
