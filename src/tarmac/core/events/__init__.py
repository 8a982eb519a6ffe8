"""Events, named in the past tense. Nothing else changes the state."""

from __future__ import annotations

from typing import TypeAlias

from tarmac.core.events.of_attempts import (
    JobExited,
    JobLost,
    JobStarted,
    LaunchFailed,
    Reported,
    RunReport,
    TreeGone,
    is_final,
)
from tarmac.core.events.of_jobs import (
    JobEdited,
    JobMoved,
    JobsHeld,
    JobsLabelled,
    JobsPaused,
    JobsReleased,
    JobsResumed,
    JobsRetried,
    JobsSubmitted,
    ProcessAdopted,
    StartForced,
    StopAsked,
)
from tarmac.core.events.of_nodes import (
    GpusDrained,
    GpusForgotten,
    GpusResumed,
    GpusSeen,
    NodeAdded,
    NodeForgotten,
    NodeJoined,
    NodeLeft,
    NodeRemoved,
    NodeSampled,
    NodesDrained,
    NodesResumed,
    ProgressSeen,
    RunOrigin,
    SlotsSet,
)
from tarmac.core.events.of_queue import (
    OwnersResumed,
    QueueDrained,
    QueuePaused,
    QueueResumed,
    QueueStopped,
    ReservationEnded,
    ReservationMade,
    RulesSet,
)
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePassed:
    """No other event occurred, but something timed may be due."""


Event: TypeAlias = (
    JobsSubmitted
    | JobsHeld
    | JobsReleased
    | JobsPaused
    | JobsResumed
    | JobsRetried
    | JobMoved
    | JobEdited
    | JobsLabelled
    | StartForced
    | QueuePaused
    | QueueResumed
    | OwnersResumed
    | QueueDrained
    | QueueStopped
    | ReservationMade
    | ReservationEnded
    | ProcessAdopted
    | StopAsked
    | Reported
    | NodeJoined
    | NodeLeft
    | NodeAdded
    | NodesDrained
    | NodesResumed
    | NodeRemoved
    | NodeForgotten
    | GpusSeen
    | NodeSampled
    | ProgressSeen
    | TimePassed
    | GpusDrained
    | GpusResumed
    | GpusForgotten
    | SlotsSet
    | RulesSet
)

__all__ = [
    "Event",
    "GpusDrained",
    "GpusForgotten",
    "GpusResumed",
    "GpusSeen",
    "JobEdited",
    "JobExited",
    "JobLost",
    "JobMoved",
    "JobStarted",
    "JobsHeld",
    "JobsLabelled",
    "JobsPaused",
    "JobsReleased",
    "JobsResumed",
    "JobsRetried",
    "JobsSubmitted",
    "LaunchFailed",
    "NodeAdded",
    "NodeForgotten",
    "NodeJoined",
    "NodeLeft",
    "NodeRemoved",
    "NodeSampled",
    "NodesDrained",
    "NodesResumed",
    "OwnersResumed",
    "ProcessAdopted",
    "ProgressSeen",
    "QueueDrained",
    "QueuePaused",
    "QueueResumed",
    "QueueStopped",
    "Reported",
    "ReservationEnded",
    "ReservationMade",
    "RulesSet",
    "RunOrigin",
    "RunReport",
    "SlotsSet",
    "StartForced",
    "StopAsked",
    "TimePassed",
    "TreeGone",
    "is_final",
]
