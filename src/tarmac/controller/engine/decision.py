"""What a plan decides: events for the core, what to commit beside them, and the answer for the caller.

Also what the engine keeps track of between a plan and its commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from tarmac.records import dataclass

if TYPE_CHECKING:
    import asyncio

    from tarmac.core.commands import Command
    from tarmac.core.events import Event, NodeJoined
    from tarmac.core.model.ids import JobId
    from tarmac.core.state import State
    from tarmac.store.accounts import Account
    from tarmac.store.batch import Batch, KeptAnswer, Link, MemorySample, Sample, Submission
    from tarmac.store.environments.environments import StoredEnvironment
    from tarmac.store.environments.fingerprints import TakenFingerprint
    from tarmac.store.groups import Group
    from tarmac.store.history.incoming import ImportedJob
    from tarmac.store.node_hours import NodeHour
    from tarmac.store.outbox import OutboxChanges
    from tarmac.store.templates import StoredTemplate

T = TypeVar("T")


class PlanOutdated(Exception):  # not an error
    """Raised by a plan that rests on something that has changed since. Its caller tries again."""


# Changes memory beside the state, such as the settings. Called when the decision is made, so that the next plan sees
# the change; returns a function that takes it back if the commit fails.
Install: TypeAlias = Callable[[], Callable[[], None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[T]):
    answer: T
    events: Sequence[Event] = ()
    environments: Mapping[str, StoredEnvironment] = field(default_factory=dict)
    submission: Submission | None = None
    group: Group | None = None  # that the new jobs form
    regrouped: Sequence[Group] = ()  # with another command
    kept: KeptAnswer | None = None  # for a repetition of the request
    removed: Sequence[JobId] = ()
    imported: Sequence[ImportedJob] = ()
    ids_upto: int = 0  # no new job gets this id or a lower one
    settings: Mapping[str, str | None] = field(default_factory=dict)  # None removes the stored value
    templates: Mapping[tuple[str, str], StoredTemplate | None] = field(default_factory=dict)  # by owner and name
    accounts: Sequence[Account] = ()
    links: Sequence[Link] = ()  # that jobs wrote to their logs
    samples: Sequence[Sample] = ()
    memory_samples: Sequence[MemorySample] = ()
    samples_from: int | None = None  # older samples are deleted
    hours: Sequence[NodeHour] = ()
    fingerprints: Sequence[TakenFingerprint] = ()
    outbox: OutboxChanges | None = None  # notifications that were sent, or could not be, or are to be sent
    install: Install | None = None

    def add_to(self, batch: Batch) -> None:
        """Commit what goes with the events in this batch."""
        batch.environments |= self.environments
        batch.removed += self.removed
        batch.imported += self.imported
        batch.ids_upto = max(batch.ids_upto, self.ids_upto)
        batch.settings |= self.settings
        batch.templates |= self.templates
        batch.accounts += self.accounts
        batch.links += self.links
        batch.samples += self.samples
        batch.memory_samples += self.memory_samples
        batch.fingerprints += self.fingerprints
        batch.samples_from = self.samples_from or batch.samples_from
        batch.hours += self.hours
        if self.outbox is not None:
            batch.outbox.add(self.outbox)
        if self.group is not None:
            batch.groups.append(self.group)
        batch.regrouped += self.regrouped
        if self.submission is not None:
            batch.submissions.append(self.submission)
        if self.kept is not None:
            batch.kept_answers.append(self.kept)


# Called when its turn comes, with the newest state. It must not change the state, and may raise Refused.
Plan: TypeAlias = Callable[["State"], Decision[T]]


@dataclass(slots=True)
class Pending:
    """A plan that waits for its turn, or for its commit."""

    plan: Plan[Any]
    done: asyncio.Future[Any] | None = None  # None: no caller waits for it
    decision: Decision[Any] | None = None
    failure: Exception | None = None  # why its plan made no decision


class Turn(NamedTuple):
    """Everything that is decided for one commit."""

    pending: list[Pending]
    batch: Batch
    commands: list[Command]
    joined: list[NodeJoined]


def resolve(pending: list[Pending], error: Exception | None) -> None:
    """Answer all waiting callers, with the error if the commit failed."""
    for one in pending:
        if one.done is None or one.done.done():
            continue
        if (raised := error or one.failure) is not None:
            one.done.set_exception(raised)
        elif one.decision is not None:
            one.done.set_result(one.decision.answer)
