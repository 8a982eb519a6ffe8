"""Hands a job over to a shim. Its run folder was locked by the shim before, and gets its name before the job is sent:
there is no moment in which somebody could take a living attempt for one that never began."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Optional, Tuple, cast

from tarmac.agent.run.run_folder import SPEC
from tarmac.agent.run.shim_pool import AgentContext, IdleShim
from tarmac.agent.run.start_request import Limit
from tarmac.shared import crashpoint
from tarmac.shared.protocol import encode

if TYPE_CHECKING:
    from tarmac.shared.frames import AssignFrame, LimitEntry

# What a Unix socket takes at once under the smallest usual limits.
_CHANNEL_BYTES = 65536


class Start(NamedTuple):
    """What the controller asked for: its frame as it came, and what of it the shim has to know."""

    frame: bytes
    limit: Optional[Limit]


def hand_over(place: AgentContext, spare: IdleShim, key: Tuple[int, int], start: Start, *, port: int, nth: int) -> None:
    """FileExistsError when there is a run folder of that attempt. BrokenPipeError when the shim has just died."""
    crashpoint.reach("agent:before-mkdir")
    job, attempt = key
    place.folders.assign(spare.folder, f"{job}.{attempt}")
    crashpoint.reach("agent:after-mkdir")
    is_left = len(start.frame) > _CHANNEL_BYTES
    if is_left:
        spare.folder.leave(SPEC, start.frame)
    # The shim reads this much; the start frame it passes on to the command's process unread.
    assign: AssignFrame = {
        "type": "assign",
        "job": job,
        "attempt": attempt,
        "port": port,
        "nth": nth,
        "is_in_folder": is_left,
        "limit": None if start.limit is None else cast("LimitEntry", start.limit._asdict()),
    }
    order = encode(assign)
    crashpoint.reach("agent:before-fork")
    os.write(spare.channel.fileno(), order if is_left else order + start.frame)
    crashpoint.reach("agent:after-fork")
