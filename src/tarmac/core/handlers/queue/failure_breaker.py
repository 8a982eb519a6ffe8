"""Suspends an owner after many quick failures in a row: a broken environment must not burn the queue overnight.

Jobs count, not attempts: one job that is tried again and again does not stop the others of its owner.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.commands import Notify
from tarmac.core.model.note import note
from tarmac.core.model.queue import Suspension
from tarmac.core.model.status import Cancelled, Failed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tarmac.core.model.attempt import Ended
    from tarmac.core.model.job import Job
    from tarmac.core.model.note import Note, Value
    from tarmac.core.state import State

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+")  # numbers differ from job to job


class CommonLine(NamedTuple):
    text: str
    jobs: int  # that failed with it


def count_end(state: State, job: Job, ended: Ended, now: float) -> list[Notify]:
    """Call once for every attempt that ended."""
    owner = job.spec.owner
    if isinstance(ended, Cancelled):
        return []
    if not isinstance(ended, Failed) or not was_quick(ended, state.rules.fail_fast_s):
        state.failures.pop(owner, None)
        return []
    most = state.rules.suspend_after_failures
    if not most or owner in state.suspended:
        return []
    failed = state.failures.setdefault(owner, {})
    failed[job.id] = ended.error_line or (ended.message if isinstance(ended.message, str) else None)
    if len(failed) < most:
        return []
    reason = _reason(state, job, ended, failed.values())
    state.set_suspension(owner, Suspension(owner=owner, reason=reason, since=now))
    return [
        Notify(what="owner-suspended", message=note("notice.owner_suspended", owner=owner, reason=reason), job=job.id)
    ]


def _reason(state: State, job: Job, ended: Failed, lines: Collection[str | None]) -> Note:
    """Names the error line that most of the jobs have in common, or how the last one failed."""
    owner, count, within_s, line = job.spec.owner, len(lines), state.rules.fail_fast_s, common_line(lines)
    if line is not None and (line.jobs > 1 or count == 1):
        alike = line.jobs
        return note(
            "suspended.failures_alike", owner=owner, count=count, within_s=within_s, alike=alike, line=line.text
        )
    return note(
        "suspended.failures",
        owner=owner,
        count=count,
        within_s=within_s,
        job=job.id,
        reason=ended.reason,
        detail=_detail(ended),
    )


def common_line(lines: Iterable[str | None]) -> CommonLine | None:
    """The error line that most jobs failed with, as the last of them printed it."""
    known = [line for line in lines if line]
    if not known:
        return None
    counts = Counter(_VARYING.sub("#", line) for line in known)
    kind, count = max(counts.items(), key=lambda one: one[1])
    return CommonLine(next(line for line in reversed(known) if _VARYING.sub("#", line) == kind), count)


def was_quick(status: Failed, within_s: float) -> bool:
    return status.started_at is None or status.ended_at - status.started_at <= within_s


def _detail(status: Failed) -> Value:
    match status.reason:
        case "exit":
            return status.exit_code
        case "signal":
            return status.signal
        case _:
            return status.message
