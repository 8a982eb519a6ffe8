"""The machine and the scheduler itself: GPUs, status, stop."""

from __future__ import annotations

import os
from typing import Any

from litestar import get, post
from litestar.params import JSONBody

from tarmac import __version__
from tarmac.api import schemas
from tarmac.api.deps import Caller, EngineDep, TheEnd
from tarmac.api.errors import API
from tarmac.api.routes.queue import queued_count, running_count

AGENT_ANSWERS_WITHIN_S = 2.0


@get("/status")
async def status(engine: EngineDep, caller: Caller) -> schemas.StatusView:  # noqa: ARG001 - checks the caller
    """The scheduler at a glance."""
    home = engine.fleet.home
    hello = home.hello
    state = engine.state
    return schemas.StatusView(
        controller_pid=os.getpid(),
        agent_pid=None if hello is None else hello.pid,
        agent_answers=await home.answers(AGENT_ANSWERS_WITHIN_S),
        version=__version__,
        api=API,
        policy=state.rules.policy,
        paused=state.mode.is_paused,
        paused_reason=state.mode.reason,
        draining=state.mode.is_draining,
        running=running_count(state),
        queued=queued_count(state),
        containment=None if hello is None else hello.containment,
        containment_reason=None if hello is None else hello.containment_reason,
        node=None if hello is None else hello.node,
        home=str(engine.state_folder),
        uptime_s=round(engine.uptime_s(), 3),
        database_bytes=engine.store.size_bytes(),
        degraded=engine.degraded,
    )


@post("/stop", status_code=202)
async def stop(
    engine: EngineDep,
    caller: Caller,  # noqa: ARG001 - checks the caller
    end: TheEnd,
    data: JSONBody[schemas.StopRequest],
) -> dict[str, Any]:
    """End the controller, and its agent unless told otherwise. Running jobs go on.

    The agent ends once the jobs that are being stopped have: `stopping` says how many.
    """
    stopping = await engine.fleet.ask_agents_to_end(AGENT_ANSWERS_WITHIN_S) if data.agent else 0
    end()
    return {"controller_pid": os.getpid(), "stopping": stopping}
