"""The names of `tarmac.shared.names` as types. Modules that avoid importing `typing` use the tuples there."""

from __future__ import annotations

from typing import Literal, TypeAlias

StateName: TypeAlias = Literal[
    "draft",
    "held",
    "queued",
    "starting",
    "running",
    "paused",
    "stopping",
    "unknown",
    "succeeded",
    "failed",
    "cancelled",
]
GroupKind: TypeAlias = Literal["array", "sweep", "batch"]
Entry: TypeAlias = Literal["queued", "held", "draft"]
Tier: TypeAlias = Literal["urgent", "normal", "preemptible"]
# What ends a job from outside, as far as Tarmac can tell. Each is also a reason of failure.
Outside: TypeAlias = Literal["killed", "disk-full", "no-cwd", "no-interpreter", "suspend", "reboot"]
Failure: TypeAlias = Literal["exit", "signal", "oom-gpu", "oom-host", "timeout", "launch", "dependency"] | Outside
Loss: TypeAlias = Literal["lost", "reboot"]  # why an outcome is unknown
Memory: TypeAlias = Literal["gpu", "host"]  # that a job ran out of
AttemptEnd: TypeAlias = Literal["succeeded", "failed", "cancelled", "unknown", "preempted", "requeued"]
RetryKind: TypeAlias = Literal["exit", "signal", "oom", "timeout", "lost", "launch"]
OutputName: TypeAlias = Literal["stdout", "stderr"]
OnOom: TypeAlias = Literal["fail", "retry", "grow"]
Outcome: TypeAlias = Literal["ok", "fail"]
Condition: TypeAlias = Literal["ok", "fail", "any"]
Policy: TypeAlias = Literal["fifo", "balance", "fairshare"]
Order: TypeAlias = Literal["submitted", "expected"]
Placement: TypeAlias = Literal["pack", "spread"]
Action: TypeAlias = Literal["none", "warn", "stop"]
