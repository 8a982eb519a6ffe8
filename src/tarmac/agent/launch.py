"""Hands a job over to a shim. Its run folder was locked by the shim before, and gets its name before the job is sent:
there is no moment in which somebody could take a living attempt for one that never began."""

from __future__ import annotations

import os

from tarmac.agent import crashpoint
from tarmac.agent.protocol import Message, encode
from tarmac.agent.records import SPEC
from tarmac.agent.spares import Place, Spare

# What a Unix socket takes at once under the smallest usual limits.
_CHANNEL_BYTES = 65536


def hand_over(place: Place, spare: Spare, start: Message, *, port: int, nth: int) -> None:
    """FileExistsError when there is a run folder of that attempt. BrokenPipeError when the shim has just died."""
    crashpoint.reach("agent:before-mkdir")
    place.folders.assign(spare.folder, f"{start['job']}.{start['attempt']}")
    crashpoint.reach("agent:after-mkdir")
    frame = encode({**start, "port": port, "nth": nth})
    if len(frame) > _CHANNEL_BYTES:
        spare.folder.leave(SPEC, frame)
        frame = encode({"type": "start", "file": SPEC})
    crashpoint.reach("agent:before-fork")
    os.write(spare.channel.fileno(), frame)
    crashpoint.reach("agent:after-fork")
