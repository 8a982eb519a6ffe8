"""Why jobs wait while nothing can be written. That is the reason to show, not that their machine seems unreachable.

The failed commit discarded the controller's memory, and reports of machines are ignored until writing works again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.wording.catalogue import say
from tarmac.api.wording.refusals import refusal
from tarmac.core.explain import NodeAway, NoNode
from tarmac.core.model.status import Queued

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.explain import Reason
    from tarmac.core.model.job import Job


def degraded_words(controller: Controller) -> str | None:
    """Why nothing can be written at the moment."""
    return None if controller.degraded is None else refusal(controller.degraded).message


def silent_words(controller: Controller) -> str | None:
    """Which agent does not answer, and how old what it said is."""
    silent = [(session.name, session.silent_s) for session in controller.fleet if session.silent_s is not None]
    if not silent:
        return None
    name, seconds = max(silent, key=lambda one: one[1] or 0)
    node = name if len(list(controller.fleet)) > 1 else None
    return say("agent.silent_for", node=node, seconds=seconds)


def unwritten(controller: Controller, job: Job) -> str | None:
    """What a queued job waits for while nothing can be written."""
    if controller.degraded is None or not isinstance(job.status, Queued):
        return None
    return say("waiting.unwritten", problem=degraded_words(controller))


def still_true(controller: Controller, reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """The reasons without those that only follow from the failed write."""
    if controller.degraded is None:
        return reasons
    return tuple(reason for reason in reasons if not isinstance(reason, NoNode | NodeAway))
