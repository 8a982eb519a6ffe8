"""The controller's own log, for admins. No path comes from the client."""

from __future__ import annotations

import asyncio

from tarmac import paths
from tarmac.api.deps import Context
from tarmac.api.schemas.controller_log import ControllerLogPart, ControllerLogQuery
from tarmac.controller.state_directory.log_reader import last_lines, lines_after, without_any_secret
from tarmac.refusal import not_found


async def show_controller_log(context: Context, query: ControllerLogQuery) -> ControllerLogPart:
    """Show the last lines of the controller's log, or those since an earlier answer. Secrets are masked."""
    controller = context.controller
    path = paths.controller_log(str(controller.state_folder))
    try:
        if query.after is None:
            part = await asyncio.to_thread(last_lines, path, query.lines)
        else:
            part = await asyncio.to_thread(lines_after, path, query.after, query.lines)
    except FileNotFoundError:
        raise not_found("server.no_log") from None
    text = without_any_secret(part.text, controller.targets.urls())
    return ControllerLogPart(text=text, next=part.place, cut=part.is_cut)
