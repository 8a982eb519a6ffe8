"""The state machine of a job, as data. What is not in the table does not happen:

an event that a state has no row for is stale (late, repeated, out of order) and is ignored;
a move to a state its row does not name is a defect and raises.
Every state that has GPUs has a row for every final report: a node tells it until it is kept here.
"""

from __future__ import annotations

# (state, cause) -> the states it may lead to. Causes are events, plus some that the core finds out itself:
# Decided   a scheduling pass gave the job its GPUs
# RunMissing   a node came back and has no trace of the run
# DependencyFailed   a job that it was to wait for did not end as it should
# Preempted   a job of a higher tier needs its room
TRANSITIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("queued", "Decided"): ("starting",),
    ("queued", "ProcessAdopted"): ("starting",),  # it is never seen to wait
    ("queued", "StopAsked"): ("cancelled",),
    ("queued", "StartForced"): ("starting",),
    ("queued", "JobsHeld"): ("held",),
    ("queued", "DependencyFailed"): ("failed",),
    ("held", "JobsReleased"): ("queued",),
    ("held", "StartForced"): ("starting",),
    ("held", "StopAsked"): ("cancelled",),
    ("held", "DependencyFailed"): ("failed",),
    ("draft", "JobsReleased"): ("queued",),
    ("draft", "StartForced"): ("starting",),
    ("draft", "StopAsked"): ("cancelled",),
    ("draft", "DependencyFailed"): ("failed",),
    ("starting", "JobStarted"): ("running",),
    ("starting", "JobExited"): ("succeeded", "failed", "unknown"),
    ("starting", "LaunchFailed"): ("failed",),
    ("starting", "JobLost"): ("unknown",),
    ("starting", "TreeGone"): ("unknown",),
    ("starting", "StopAsked"): ("stopping",),
    ("starting", "Preempted"): ("stopping",),
    ("starting", "QueueStopped"): ("stopping",),
    # The decision was kept but its command never arrived, so the same attempt is sent again.
    ("starting", "RunMissing"): ("starting",),
    ("running", "JobExited"): ("succeeded", "failed", "unknown"),
    # The node reports a start as soon as the process is there; finding the program may still fail.
    ("running", "LaunchFailed"): ("failed",),
    ("running", "JobLost"): ("unknown",),
    ("running", "TreeGone"): ("unknown",),
    ("running", "StopAsked"): ("stopping",),
    ("running", "Preempted"): ("stopping",),
    ("running", "QueueStopped"): ("stopping",),
    ("running", "RunMissing"): ("unknown",),
    ("stopping", "JobStarted"): ("stopping",),
    # Whoever was asked to make room only waits again; one that was over before it was asked is over.
    ("stopping", "JobExited"): ("cancelled", "queued", "succeeded", "failed", "unknown"),
    ("stopping", "LaunchFailed"): ("cancelled", "queued"),
    ("stopping", "JobLost"): ("unknown",),
    ("stopping", "TreeGone"): ("unknown",),
    ("stopping", "StopAsked"): ("stopping",),
    ("stopping", "RunMissing"): ("cancelled", "unknown", "queued"),
    # Unknown with processes left. What is learned late still counts.
    ("unknown", "JobExited"): ("succeeded", "failed", "unknown"),
    ("unknown", "LaunchFailed"): ("failed",),
    ("unknown", "JobLost"): ("unknown",),
    ("unknown", "TreeGone"): ("unknown",),
    ("unknown", "StopAsked"): ("unknown",),
    ("unknown", "RunMissing"): ("unknown",),
}


class ImpossibleTransition(AssertionError):
    """A defect in the core; the message tells the job's way into it."""


def is_expected(state: str, cause: str) -> bool:
    return (state, cause) in TRANSITIONS


def check(state: str, cause: str, target: str, job: int) -> None:
    if target not in TRANSITIONS.get((state, cause), ()):
        raise ImpossibleTransition(f"job {job}: {state} -> {target} because of {cause}")


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
