"""Hands a job over to a shim. Its run folder was locked by the shim before, and gets its name before the job is sent:
there is no moment in which somebody could take a living attempt for one that never began."""

from __future__ import annotations

import os
from typing import Tuple

from tarmac.agent import crashpoint
from tarmac.agent.protocol import encode
from tarmac.agent.records import SPEC
from tarmac.agent.spares import Place, Spare

# What a Unix socket takes at once under the smallest usual limits.
_CHANNEL_BYTES = 65536


def hand_over(place: Place, spare: Spare, key: Tuple[int, int], start: bytes, *, port: int, nth: int) -> None:
    """FileExistsError when there is a run folder of that attempt. BrokenPipeError when the shim has just died."""
    crashpoint.reach("agent:before-mkdir")
    job, attempt = key
    place.folders.assign(spare.folder, f"{job}.{attempt}")
    crashpoint.reach("agent:after-mkdir")
    is_left = len(start) > _CHANNEL_BYTES
    if is_left:
        spare.folder.leave(SPEC, start)
    # The shim reads this much; the start frame it passes on to the command's process unread.
    order = encode({"type": "order", "job": job, "attempt": attempt, "port": port, "nth": nth, "is_left": is_left})
    crashpoint.reach("agent:before-fork")
    os.write(spare.channel.fileno(), order if is_left else order + start)
    crashpoint.reach("agent:after-fork")
