"""Targets of notifications and the outbox, as people and programs see them. No URL leaves unmasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.notify import NotificationsView, TargetView
from tarmac.api.wording.notifications import stored_problem_words
from tarmac.api.wording.refusals import refusal

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.controller.requests.permissions import Caller


def target_views(controller: Controller, caller: Caller) -> list[TargetView]:
    """The targets that the caller can use, with what waits for them; for admins, all."""
    targets = controller.targets
    queues = {(queue.owner, queue.target): queue for queue in controller.store.reader.outbox.targets()}
    defaults = targets.defaults(caller.name)
    views = []
    for one in targets.listed(None if caller.is_admin else caller.name):
        mine = [queues.pop(key) for key in list(queues) if controller.targets.place(*key) == (one.owner, one.name)]
        views.append(
            TargetView(
                name=one.name,
                owner=one.owner or None,
                url=one.url or "***",
                default=one.name in defaults and one.owner in {"", caller.name},
                waiting=sum(queue.waiting for queue in mine),
                failed=sum(queue.failed for queue in mine),
                error=stored_problem_words(next((queue.error for queue in mine if queue.error), None))
                if one.problem is None
                else refusal(one.problem).message,
            )
        )
    left = [queue for queue in queues.values() if caller.is_admin or queue.owner == caller.name]
    return views + [
        TargetView(
            name=queue.target,
            owner=queue.owner or None,
            url=None,
            default=False,
            waiting=queue.waiting,
            failed=queue.failed,
            error=stored_problem_words(queue.error),
        )
        for queue in left
    ]


def notifications_view(controller: Controller) -> NotificationsView | None:
    """None if nothing waits and nothing failed."""
    queues = controller.store.reader.outbox.targets()
    troubled = [queue for queue in queues if queue.error is not None]
    if not queues:
        return None
    newest = max(troubled, key=lambda queue: queue.due_at, default=None)
    return NotificationsView(
        waiting=sum(queue.waiting for queue in queues),
        failed=sum(queue.failed for queue in queues),
        target=None if newest is None else newest.target,
        error=None if newest is None else stored_problem_words(newest.error),
        failing=sorted({queue.target for queue in troubled}),
    )
