"""Why a job waits, in words. The facts come from `core.explain`; nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from tarmac.core.explain import CpuSlotsTaken, NeverFits, NodeAway, NoNode, TooFewGpus, explain

if TYPE_CHECKING:
    from tarmac.core.explain import Reason
    from tarmac.core.model import Job
    from tarmac.core.state import State


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def sentence(reason: Reason) -> str:
    match reason:
        case NoNode():
            return "no machine is in reach: the agent is not connected"
        case NodeAway(node=node):
            return f"{node} is out of reach"
        case TooFewGpus(asked=asked, free=free, total=total, held_by=held_by):
            held = f", held by {jobs_named(held_by)}" if held_by else ""
            return f"{count(asked, 'GPU')} asked, {free} of {total} free{held}"
        case CpuSlotsTaken(slots=slots):
            return f"all {slots} slots for jobs without GPUs are taken (max_cpu_jobs)"
        case NeverFits(asked=asked, most=most):
            return f"{count(asked, 'GPU')} asked, the largest node has {most} now"
        case _:
            assert_never(reason)


def jobs_named(ids: tuple[int, ...], most: int = 8) -> str:
    shown = ", ".join(map(str, ids[:most])) + (", …" if len(ids) > most else "")
    return f"{'job' if len(ids) == 1 else 'jobs'} {shown}"


def why_waiting(state: State, job: Job) -> list[str]:
    """All there is to say, for one job."""
    reasons = explain(state, job)
    if not reasons:
        return []
    ahead = state.queue.ahead_of(job)
    place = "next in the queue" if ahead == 0 else f"{count(ahead, 'job')} ahead in the queue"
    return [place, *map(sentence, reasons)]
