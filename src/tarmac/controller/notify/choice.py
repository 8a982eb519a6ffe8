"""The targets and events of a job, with the defaults of its owner. For submits and edits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.refusal import invalid
from tarmac.shared.names import JOB_EVENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tarmac.controller.notify.targets import Targets
    from tarmac.core.model.job import JobSpec


class NotificationChoice(NamedTuple):
    targets: tuple[str, ...]
    events: tuple[str, ...]


def choice_of(
    targets: Targets, owner: str, names: tuple[str, ...] | None, events: tuple[str, ...]
) -> NotificationChoice:
    """`names` is None where the defaults of the owner apply; empty for no notifications.

    Defaults are not refused if apprise is missing: the user did not ask. They wait in the outbox; `status` says why.
    """
    chosen = targets.defaults(owner) if names is None else targets.check(owner, names)
    for event in events:
        if event not in JOB_EVENTS:
            raise invalid("notify.unknown_event", event=event, known=JOB_EVENTS)
    if events and not chosen:
        raise invalid("notify.on_without_target")
    if not chosen:
        return NotificationChoice((), ())
    return NotificationChoice(chosen, tuple(dict.fromkeys(events)) or targets.default_events(owner))


def edited(targets: Targets, spec: JobSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an edit, with what they mean for this job: its owner's targets, and defaults."""
    if not given.keys() & {"notify", "notify_on"}:
        return dict(given)
    names = given.get("notify", spec.notify)
    events = given.get("notify_on", spec.notify_on if names else ())
    chosen = choice_of(targets, spec.owner, names, events or ())
    return {**given, "notify": chosen.targets, "notify_on": chosen.events}
