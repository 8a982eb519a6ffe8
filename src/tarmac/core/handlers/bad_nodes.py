"""Drains a node on which jobs of several owners fail right after their start: a bad node must not eat the queue.

Jobs count, not attempts. A job that succeeds, or fails later, proves that the node works, and the count begins anew.
If all failed jobs belong to one owner, their code may be at fault. Then the node is drained only if more of them
failed, and jobs of that owner have run on another node meanwhile. The last node that takes jobs is never drained: with
nothing left to run on, the queue would stand still because of a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.commands import Notify
from tarmac.core.handlers.queue.failure_breaker import common_line, was_quick
from tarmac.core.model.node import NodeDrain, QuickFailure
from tarmac.core.model.note import Note, note
from tarmac.core.model.status import Cancelled, Failed, Running, Unknown

if TYPE_CHECKING:
    from collections.abc import Collection

    from tarmac.core.model.attempt import Ended
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.state import State

MORE_OF_ONE_OWNER = 2  # so many more failures are needed if all jobs belong to one owner
COUNTED_S = 3600.0  # a failure that is older says nothing about the node as it is now


def count_end(state: State, job: Job, ended: Ended, now: float) -> list[Notify]:
    """Call once for every attempt that ended on a node."""
    if isinstance(ended, Cancelled | Unknown) or ended.booking is None or _is_by_controller(ended):
        return []
    name, owner = ended.booking.blamed_node, job.spec.owner
    if not isinstance(ended, Failed) or not was_quick(ended, state.rules.fail_fast_s):
        for worked in ended.booking.held_nodes:
            state.quick_failures.pop(worked, None)
            state.worked_at.setdefault(worked, {})[owner] = now
        return []
    if ended.reason == "timeout":
        return []
    failed = state.quick_failures.setdefault(name, {})
    failed.pop(job.id, None)
    line = ended.error_line or (ended.message if isinstance(ended.message, str) else None)
    failed[job.id] = QuickFailure(owner=owner, at=now, line=line)
    for number in [number for number, one in failed.items() if abs(now - one.at) > COUNTED_S]:
        del failed[number]
    if not _is_bad(state, name, failed.values(), now):
        return []
    reason = _reason(state, name, list(failed.values()))
    del state.quick_failures[name]
    state.set_node_drain(state.node(name), NodeDrain(reason=reason, by=None, since=now))
    return [Notify(what="node-drained", message=note("notice.node_drained", node=name, reason=reason), job=job.id)]


def _is_by_controller(ended: Ended) -> bool:
    """The controller refused the start itself: the node has no part in it."""
    return isinstance(ended, Failed) and ended.started_at is None and isinstance(ended.message, Note)


def _is_bad(state: State, name: NodeName, failed: Collection[QuickFailure], now: float) -> bool:
    most = state.rules.drain_node_after_failures
    if not most or len(failed) < most or state.node(name).drain is not None:
        return False
    if not any(node.takes_jobs for node in state.nodes.values() if node.name != name):
        return False
    owners = {one.owner for one in failed}
    if len(owners) > 1:
        return True
    since = min(one.at for one in failed)
    return len(failed) >= most + MORE_OF_ONE_OWNER and _has_worked_elsewhere(state, name, owners.pop(), since, now)


def _has_worked_elsewhere(state: State, name: NodeName, owner: str, since: float, now: float) -> bool:
    """Has a job of this owner run on another node since then, for longer than those that failed?"""
    if any(at.get(owner, -1.0) >= since for other, at in state.worked_at.items() if other != name):
        return True
    jobs = (state.jobs[number] for node in state.nodes.values() if node.name != name for number in node.host)
    return any(
        job.spec.owner == owner
        and isinstance(job.status, Running)
        and job.status.started_at >= since
        and now - job.status.started_at > state.rules.fail_fast_s
        for job in jobs
    )


def _reason(state: State, name: NodeName, failed: list[QuickFailure]) -> Note:
    """Names the error line that most of the jobs have in common."""
    count, owners, within_s = len(failed), len({one.owner for one in failed}), state.rules.fail_fast_s
    line = common_line(one.line for one in failed)
    if line is not None and line.jobs > 1:
        return note(
            "drained.failures_alike",
            node=name,
            count=count,
            owners=owners,
            within_s=within_s,
            alike=line.jobs,
            line=line.text,
        )
    return note("drained.failures", node=name, count=count, owners=owners, within_s=within_s)
