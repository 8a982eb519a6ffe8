"""The queue as a whole, as people and programs see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.queue import QueueView, SuspensionView
from tarmac.api.views.notice import notice_view
from tarmac.api.wording.notes import note_words, words
from tarmac.api.wording.times import iso

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.state import State


def queue_view(controller: Controller) -> QueueView:
    state = controller.state
    mode = state.mode
    return QueueView(
        paused=mode.is_paused,
        draining=mode.is_draining,
        by=mode.by,
        reason=words(mode.reason),
        since=iso(mode.since),
        queued=queued_count(state),
        running=running_count(state),
        policy=state.rules.policy,
        order=state.rules.order,
        suspended=suspension_views(state),
        notice=notice_view(controller),
    )


def suspension_views(state: State) -> list[SuspensionView]:
    return [
        SuspensionView(owner=one.owner, reason=note_words(one.reason), since=str(iso(one.since)))
        for _, one in sorted(state.suspended.items())
    ]


def queued_count(state: State) -> int:
    return len(state.queue) + len(state.blocked)


def running_count(state: State) -> int:
    """Jobs that hold their booking."""
    return len(state.ledger.running)
