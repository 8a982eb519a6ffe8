"""The state machine of a job, as data.

An event without a row for the current state is stale (late, repeated, out of order) and is ignored. A move to a state
that the row does not name is a defect and raises. Every state with GPUs has a row for every final report, because a
node repeats the report until it is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

STORY_LINES = 10  # in the message of an impossible transition

# (state, cause) -> the states it may lead to. Causes are events, plus some that the core concludes:
# Decided   a scheduling pass gave the job its GPUs
# RunMissing   a node came back and has no record of the attempt
# TakenIn   a node reports an attempt that the database does not know
# NodeForgotten   a person knows that the node is gone for good
# DependencyFailed   a job that it depends on did not end as required
# Preempted   a job of a higher tier needs its GPUs
TRANSITIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("queued", "Decided"): ("starting",),
    ("queued", "ProcessAdopted"): ("starting",),  # it never waits
    ("queued", "TakenIn"): ("unknown",),
    ("queued", "StopAsked"): ("cancelled",),
    ("queued", "StartForced"): ("starting",),
    ("queued", "JobsHeld"): ("held",),
    ("queued", "DependencyFailed"): ("failed",),
    ("held", "TakenIn"): ("unknown",),
    ("held", "JobsReleased"): ("queued",),
    ("held", "StartForced"): ("starting",),
    ("held", "StopAsked"): ("cancelled",),
    ("held", "DependencyFailed"): ("failed",),
    ("draft", "TakenIn"): ("unknown",),
    ("draft", "JobsReleased"): ("queued",),
    ("draft", "StartForced"): ("starting",),
    ("draft", "StopAsked"): ("cancelled",),
    ("draft", "DependencyFailed"): ("failed",),
    ("starting", "JobStarted"): ("running",),
    # Cancelled by a stop that could not be written, because the disk was full.
    # Queued if it is tried again.
    ("starting", "JobExited"): ("succeeded", "failed", "unknown", "cancelled", "queued"),
    ("starting", "LaunchFailed"): ("failed", "queued"),
    ("starting", "JobLost"): ("unknown", "queued"),
    ("starting", "TreeGone"): ("unknown", "queued"),
    ("starting", "StopAsked"): ("stopping",),
    ("starting", "Preempted"): ("stopping",),
    ("starting", "QueueStopped"): ("stopping",),
    # The decision was stored but its command never arrived, so the same attempt is sent again; or it waits again, if
    # an attempt that was taken in has its GPUs.
    ("starting", "RunMissing"): ("starting", "queued"),
    ("starting", "TakenIn"): ("unknown",),
    ("starting", "NodeForgotten"): ("unknown", "queued"),
    ("running", "JobExited"): ("succeeded", "failed", "unknown", "cancelled", "queued"),
    # The node reports a start as soon as the process is there; finding the program may still fail.
    ("running", "LaunchFailed"): ("failed", "queued"),
    ("running", "JobLost"): ("unknown", "queued"),
    ("running", "TreeGone"): ("unknown", "queued"),
    ("running", "StopAsked"): ("stopping",),
    ("running", "Preempted"): ("stopping",),
    ("running", "QueueStopped"): ("stopping",),
    ("running", "RunMissing"): ("unknown", "queued"),
    ("running", "TakenIn"): ("unknown",),
    ("running", "NodeForgotten"): ("unknown", "queued"),
    ("running", "JobsPaused"): ("paused",),
    ("paused", "JobsResumed"): ("running",),
    ("stopping", "JobStarted"): ("stopping",),
    # A preempted job is queued again; one that had ended before it was asked to stop has ended.
    ("stopping", "JobExited"): ("cancelled", "queued", "succeeded", "failed", "unknown"),
    ("stopping", "LaunchFailed"): ("cancelled", "queued"),
    ("stopping", "JobLost"): ("unknown", "queued"),
    ("stopping", "TreeGone"): ("unknown", "queued"),
    ("stopping", "StopAsked"): ("stopping",),
    ("stopping", "RunMissing"): ("cancelled", "unknown", "queued"),
    ("stopping", "TakenIn"): ("unknown",),
    ("stopping", "NodeForgotten"): ("unknown", "queued"),
    # A person runs a job again.
    ("succeeded", "JobsRetried"): ("queued",),
    ("failed", "JobsRetried"): ("queued",),
    ("cancelled", "JobsRetried"): ("queued",),
    ("unknown", "JobsRetried"): ("queued",),
    # Unknown with processes left. What is learned late still counts.
    ("unknown", "JobExited"): ("succeeded", "failed", "cancelled", "unknown", "queued"),
    ("unknown", "LaunchFailed"): ("failed", "queued"),
    ("unknown", "JobLost"): ("unknown", "queued"),
    ("unknown", "TreeGone"): ("unknown", "queued"),
    ("unknown", "StopAsked"): ("unknown",),
    ("unknown", "RunMissing"): ("unknown", "queued"),
    ("unknown", "TakenIn"): ("unknown",),
    ("unknown", "NodeForgotten"): ("unknown", "queued"),
}


# Whatever may happen to a running job may happen to a paused one.
TRANSITIONS.update(
    {
        ("paused", cause): targets
        for (state, cause), targets in TRANSITIONS.items()
        if state == "running" and cause != "JobsPaused"
    }
)


class ImpossibleTransition(AssertionError):
    """A defect in the core. The message names the transition and the last lines of the job's story.

    `add_story` puts earlier lines first: the core knows only those that are not stored yet.
    """

    def __init__(self, job: int, transition: str) -> None:
        super().__init__(transition)
        self.job = job
        self._transition = transition
        self._story: list[str] = []

    def add_story(self, before: Iterable[str]) -> None:
        self._story[:0] = before

    def __str__(self) -> str:
        lines = "".join(f"\n  {line}" for line in self._story[-STORY_LINES:])
        return f"job {self.job}: {self._transition}; the end of its story:{lines or ' nothing yet'}"


def is_expected(state: str, cause: str) -> bool:
    return (state, cause) in TRANSITIONS


def check(state: str, cause: str, target: str, job: int) -> None:
    if target not in TRANSITIONS.get((state, cause), ()):
        raise ImpossibleTransition(job, f"{state} -> {target} because of {cause}")


def story_text(at: float, attempt: int, kind: str, detail: dict[str, Any]) -> str:
    """A line of a story, for a developer."""
    return f"{at:.3f} attempt {attempt} {kind} {detail or ''}".rstrip()


def diagram() -> str:
    """The table as a Mermaid state diagram, for ARCHITECTURE.md."""
    labels: dict[tuple[str, str], list[str]] = {}
    for (source, cause), targets in TRANSITIONS.items():
        for target in targets:
            labels.setdefault((source, target), []).append(cause)
    arrows = [f"    {source} --> {target}: {', '.join(causes)}" for (source, target), causes in labels.items()]
    finals = [f"    {state} --> [*]" for state in ("succeeded", "failed", "cancelled", "unknown")]
    return (
        "\n".join(
            [
                "stateDiagram-v2",
                *[f"    [*] --> {state}: JobsSubmitted" for state in ("queued", "held", "draft")],
                *arrows,
                *finals,
            ]
        )
        + "\n"
    )
