"""What one commit stores."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from tarmac.records import dataclass
from tarmac.store.accounts import (
    Account,
    MemoryPeak,
    Usage,
)
from tarmac.store.groups import Group
from tarmac.store.node_hours import NodeHour
from tarmac.store.outbox import OutboxChanges

if TYPE_CHECKING:
    from tarmac.core.changes import Changes
    from tarmac.core.model.ids import JobId
    from tarmac.store.environments.environments import StoredEnvironment
    from tarmac.store.environments.fingerprints import TakenFingerprint
    from tarmac.store.history.incoming import ImportedJob
    from tarmac.store.templates import StoredTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    owner: str
    token: str
    first_id: int
    count: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """The answer to a request, kept in case the client asks again with the same key."""

    owner: str
    key: str
    at: float
    answer: bytes


class Link(NamedTuple):
    """An address of an experiment tracker that a job wrote to its log."""

    job: int
    kind: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One GPU, averaged over a minute."""

    at: int
    node: str
    uuid: str
    memory_used_bytes: int | None
    utilization: float | None
    power_w: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySample:
    """The host memory of an attempt: the most of a minute."""

    job: int
    attempt: int
    at: int
    bytes: int


@dataclass(slots=True, kw_only=True)
class Batch:
    """Everything that one commit stores."""

    changes: Changes
    environments: dict[str, StoredEnvironment] = field(default_factory=dict)  # by hash
    submissions: list[Submission] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)  # of the new jobs
    regrouped: list[Group] = field(default_factory=list)  # with another command
    kept_answers: list[KeptAnswer] = field(default_factory=list)
    removed: list[JobId] = field(default_factory=list)
    imported: list[ImportedJob] = field(default_factory=list)
    ids_upto: int = 0  # no new job gets this id or a lower one
    settings: dict[str, str | None] = field(default_factory=dict)  # None removes the stored value
    templates: dict[tuple[str, str], StoredTemplate | None] = field(default_factory=dict)  # by owner and name
    usage: list[Usage] = field(default_factory=list)
    usage_of_attempts: dict[tuple[JobId, int], Usage] = field(default_factory=dict)  # the same, of each attempt
    accounts: list[Account] = field(default_factory=list)
    peaks: list[MemoryPeak] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    memory_samples: list[MemorySample] = field(default_factory=list)
    samples_from: int | None = None  # older samples are deleted
    hours: list[NodeHour] = field(default_factory=list)
    fingerprints: list[TakenFingerprint] = field(default_factory=list)
    outbox: OutboxChanges = field(default_factory=OutboxChanges)

    def __bool__(self) -> bool:
        return bool(
            self.changes
            or self.kept_answers
            or self.removed
            or self.imported
            or self.settings
            or self.templates
            or self.usage
            or self.accounts
            or self.links
            or self.samples
            or self.memory_samples
            or self.samples_from
            or self.hours
            or self.fingerprints
            or self.outbox
        )
