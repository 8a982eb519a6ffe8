"""Hands a job to an idle shim. The shim has locked its run directory before, which gets the attempt's name before the
job is sent: at no moment can a living attempt be mistaken for one that never started."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Optional, cast

from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.agent.records.run_folder import SPEC
from tarmac.agent.run.shim_pool import AgentContext, IdleShim
from tarmac.agent.run.start_request import Limit
from tarmac.shared import crashpoint
from tarmac.shared.protocol import encode

if TYPE_CHECKING:
    from tarmac.agent.frames import AssignFrame, LimitEntry
    from tarmac.shared.frames.base import Origin

# What a Unix socket takes at once under the smallest usual limits.
_CHANNEL_BYTES = 65536


class Start(NamedTuple):
    """The controller's start frame as it arrived, and the part of it that the shim needs."""

    frame: bytes
    limit: Optional[Limit]
    origin: Optional[Origin] = None


def hand_over(context: AgentContext, shim: IdleShim, key: AttemptKey, start: Start, *, port: int, nth: int) -> None:
    """Raises FileExistsError if the attempt has a run directory already, BrokenPipeError if the shim has just died."""
    crashpoint.reach("agent:before-mkdir")
    context.folders.assign(shim.folder, str(key))
    crashpoint.reach("agent:after-mkdir")
    # The frame contains the origin, which the shim gets a second time.
    is_in_folder = len(start.frame) + (len(start.origin["body"]) if start.origin else 0) > _CHANNEL_BYTES
    if is_in_folder:
        shim.folder.write_file(SPEC, start.frame)
    assign: AssignFrame = {
        "type": "assign",
        "job": key.job,
        "attempt": key.attempt,
        "port": port,
        "nth": nth,
        "is_in_folder": is_in_folder,
        "origin": start.origin,
        "limit": None if start.limit is None else cast("LimitEntry", start.limit._asdict()),
    }
    # The shim passes the start frame on to the command's process unread.
    data = encode(assign) if is_in_folder else encode(assign) + start.frame
    crashpoint.reach("agent:before-fork")
    os.write(shim.channel.fileno(), data)
    crashpoint.reach("agent:after-fork")
