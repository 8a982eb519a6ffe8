"""Reports of attempts, from the shim to the agent and from the agent to the controller.

`at` and `…_at` are wall times, which may be wrong. `at_s` and `…_s` are the same moments on the node's boot clock:
null if not known, or before the present boot.
"""

from __future__ import annotations

from typing import List, Literal, Optional, TypedDict, Union

from tarmac.shared.frames.base import OfAttempt

Memory = Literal["gpu", "host"]
Outside = Literal["killed", "disk-full", "no-cwd", "no-interpreter", "suspend", "reboot"]
Loss = Literal["lost", "reboot"]


class _StartedOptions(TypedDict, total=False):
    port: Optional[int]  # for MASTER_PORT; null for an adopted process
    paused: bool  # its processes are frozen
    clock_runs_on: bool  # its shim, of an older version, does not stop the clock of the time limit during a pause


class StartedFrame(OfAttempt, _StartedOptions):
    type: Literal["started"]
    pid: int
    started_at: float
    started_s: Optional[float]


class LeftProcess(TypedDict):
    pid: int
    command: Optional[str]  # shortened; null: it ended before it could be read


class Leftovers(TypedDict):
    """The processes that were still there when the command had ended, and that were ended then."""

    count: int
    processes: List[LeftProcess]  # some of them


class _ExitedOptions(TypedDict, total=False):
    leftovers: Leftovers
    outside: Outside  # it failed because of this
    full_disk: bool  # the disk of its log was full
    adopted: bool  # the exit status of an adopted process is unknown
    oom: Memory  # it failed because this memory ran out
    error_line: str  # the line of its output that says why it failed, shortened
    paused_s: float  # how long it was paused in all, if it was
    warned_s: float  # how long before its end the shim warned it of its time limit, if it did
    by_warning: bool  # the signal that warns of the time limit ended it
    signalled: bool  # a stop was requested while the command was still running; records of older agents lack it


class ExitedFrame(OfAttempt, _ExitedOptions):
    """`timed_out`: the time limit's signal was sent while the command was still running."""

    type: Literal["exited"]
    exit_code: Optional[int]
    signal: Optional[int]
    started_at: float
    ended_at: float
    ended_s: Optional[float]
    ran_s: Optional[float]  # from its start to its end
    pid: int
    timed_out: bool


class _LaunchFailedOptions(TypedDict, total=False):
    outside: Outside  # what was missing
    missing: str  # a file or directory that is not there on this node, and may be on another


class LaunchFailedFrame(OfAttempt, _LaunchFailedOptions):
    type: Literal["launch_failed"]
    message: str
    at: float
    at_s: Optional[float]


class _WithLeftovers(TypedDict, total=False):
    leftovers: Leftovers


class _LostOptions(_WithLeftovers, total=False):
    loss: Loss


class LostFrame(OfAttempt, _LostOptions):
    """The shim was killed, so the exit status is unknown. `alive`: processes of the attempt still exist."""

    type: Literal["lost"]
    message: str
    alive: bool
    at: float
    at_s: Optional[float]
    started_s: Optional[float]


class GoneFrame(OfAttempt, _WithLeftovers):
    """The last process of a lost attempt has ended."""

    type: Literal["gone"]
    at: float
    at_s: Optional[float]
    started_s: Optional[float]


ReportFrame = Union[StartedFrame, ExitedFrame, LaunchFailedFrame, LostFrame, GoneFrame]
