"""The parts of an attempt on several nodes: where each is, and what is known about it so far."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import NodeName
from tarmac.core.model.leftovers import Leftovers
from tarmac.core.model.names import Loss, Memory, Outside
from tarmac.core.model.note import Note
from tarmac.records import dataclass

# `never`: the part was not started, because the others were stopped before.
PartEndKind: TypeAlias = Literal["exited", "launch_failed", "lost", "gone", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A node, and the GPUs that a part of an attempt has there."""

    node: NodeName
    gpus: tuple[BookedGpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartStart:
    part: int  # 0: the first
    pid: int
    started_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEnd:
    """The final report about a part. The fields are those of the report of this kind."""

    part: int
    kind: PartEndKind
    at: float
    pid: int | None = None
    started_at: float | None = None
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    leftovers: Leftovers | None = None
    outside: Outside | None = None
    missing: str | None = None  # a file or directory that is not there on its node
    is_log_disk_full: bool = False
    oom: Memory | None = None
    error_line: str | None = None
    warned_at: float | None = None
    is_by_warning: bool = False
    paused_s: float | None = None
    peak_gpu_memory_bytes: int | None = None
    was_signalled: bool | None = None
    message: Note | str | None = None
    loss: Loss = "lost"

    @property
    def is_bad(self) -> bool:
        """Must the other parts end, too?"""
        if self.kind == "exited":
            return self.exit_code != 0 or self.timed_out
        return self.kind != "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsProgress:
    """What the nodes reported about the parts. Stored with every report, so that no part is started twice."""

    port: int | None = None  # that the first node chose for MASTER_PORT
    are_others_sent: bool = False  # the decision to start the further parts was made
    starts: tuple[PartStart, ...] = ()
    ends: tuple[PartEnd, ...] = ()  # in the order in which they were reported
    cause: int | None = None  # the part that first ended badly or was lost; because of it the others are stopped
    forgotten: tuple[int, ...] = ()  # parts whose nodes a person said are gone: nothing is booked there

    def has_started(self, part: int) -> bool:
        return any(start.part == part for start in self.starts)

    def end_of(self, part: int) -> PartEnd | None:
        return next((end for end in self.ends if end.part == part), None)


def part_path(path: str, part: int) -> str:
    """The output file of a part: nodes may share a file system, so each part has a file of its own name."""
    return f"{path}.{part}" if part and not path.startswith("/dev/") else path
