"""The scheduler itself: its status and its end."""

from __future__ import annotations

import os

from tarmac import __version__
from tarmac.api.deps import Context
from tarmac.api.schemas.status import StatusView, StopAnswer, StopRequest
from tarmac.api.views.job_fields import rounded
from tarmac.api.views.node import node_views
from tarmac.api.views.notify import notifications_view
from tarmac.api.views.queue import queued_count, running_count, suspension_views
from tarmac.api.wording.notes import words
from tarmac.api.wording.times import iso
from tarmac.api.wording.why.degraded import degraded_since, degraded_words
from tarmac.shared.names import API

AGENT_ANSWERS_WITHIN_S = 2.0


async def status(context: Context) -> StatusView:
    """Show the state of the scheduler."""
    controller = context.controller
    home = controller.fleet.home
    hello = home.hello
    state = controller.state
    await home.check_liveness()
    return StatusView(
        controller_pid=os.getpid(),
        agent_pid=None if hello is None else hello.pid,
        agent_answers=hello is not None and home.silent_s is None,
        agent_silent_s=rounded(home.silent_s),
        version=__version__,
        api=API,
        policy=state.rules.policy,
        order=state.rules.order,
        paused=state.mode.is_paused,
        paused_reason=words(state.mode.reason),
        draining=state.mode.is_draining,
        suspended=suspension_views(state),
        running=running_count(state),
        queued=queued_count(state),
        containment=None if hello is None else hello.containment,
        containment_reason=None if hello is None else hello.containment_reason,
        node=None if hello is None else home.name,
        home=str(controller.state_folder),
        uptime_s=round(controller.uptime_s(), 3),
        database_bytes=controller.store.size_bytes(),
        degraded=degraded_words(controller),
        degraded_since=iso(degraded_since(controller)),
        notifications=notifications_view(controller),
        nodes=node_views(controller),
    )


async def stop(context: Context, body: StopRequest) -> StopAnswer:
    """End the controller and its agents; with `"agent": false` the controller alone. Running jobs continue.

    The agent ends once the jobs that are being stopped have: `stopping` says how many.
    """
    stopping = await context.controller.fleet.ask_agents_to_end(AGENT_ANSWERS_WITHIN_S) if body.agent else 0
    context.end()
    return StopAnswer(controller_pid=os.getpid(), stopping=stopping)
