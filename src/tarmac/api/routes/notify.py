"""Notifications: list the targets, and send a test message."""

from __future__ import annotations

import asyncio

from tarmac.api.deps import Context
from tarmac.api.schemas.notify import TargetList, TargetTestAnswer, TargetTestRequest, TargetTestResult
from tarmac.api.views.notify import target_views
from tarmac.api.wording.notifications import problem_words
from tarmac.controller.notify.targets import is_installed
from tarmac.refusal import unavailable


async def list_targets(context: Context) -> TargetList:
    """List the targets of notifications, with masked URLs, and what waits for each."""
    return TargetList(targets=target_views(context.controller, context.caller), installed=is_installed())


async def test_targets(context: Context, body: TargetTestRequest) -> TargetTestAnswer:
    """Send a message to each of these targets, and say which servers accepted it. Takes up to a minute."""
    controller, caller = context.controller, context.caller.name
    if controller.notifications is None:
        raise unavailable("notify.not_installed")
    names = controller.targets.check(caller, body.targets)
    problems = await asyncio.gather(*(controller.notifications.test(caller, name, caller) for name in names))
    return TargetTestAnswer(
        results=[
            TargetTestResult(target=name, error=None if problem is None else problem_words(problem))
            for name, problem in zip(names, problems, strict=True)
        ]
    )
