"""What a plan decides: events for the core, what to commit beside them, and the answer for the caller.

Also what the engine keeps track of between a plan and its commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    import asyncio

    from tarmac.core.commands import Command
    from tarmac.core.events import Event, NodeJoined
    from tarmac.core.model.ids import JobId
    from tarmac.core.state import State
    from tarmac.store.accounts import Account
    from tarmac.store.outbox import OutboxChanges
    from tarmac.store.writer import Batch, KeptAnswer, Sample, Submission

T = TypeVar("T")

# Changes memory beside the state, such as the settings. Called when the decision is made, so that the next plan sees
# the change; returns a function that takes it back if the commit fails.
Install: TypeAlias = Callable[[], Callable[[], None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[T]):
    answer: T
    events: Sequence[Event] = ()
    environments: Mapping[str, bytes] = field(default_factory=dict)
    submission: Submission | None = None
    kept: KeptAnswer | None = None  # for a repetition of the request
    removed: Sequence[JobId] = ()
    settings: Mapping[str, str | None] = field(default_factory=dict)  # None removes the stored value
    accounts: Sequence[Account] = ()
    samples: Sequence[Sample] = ()
    samples_from: int | None = None  # older samples are deleted
    outbox: OutboxChanges | None = None  # notifications that were sent, or could not be, or are to be sent
    install: Install | None = None

    def add_to(self, batch: Batch) -> None:
        """Commit what goes with the events in this batch."""
        batch.environments |= self.environments
        batch.removed += self.removed
        batch.settings |= self.settings
        batch.accounts += self.accounts
        batch.samples += self.samples
        batch.samples_from = self.samples_from or batch.samples_from
        if self.outbox is not None:
            batch.outbox.add(self.outbox)
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
