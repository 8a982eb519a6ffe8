"""Acts on readings: drains unhealthy GPUs; warns or stops idle and overbooked jobs.

Only observed time counts: after a gap between readings, every count (idle, overbooked, healthy again) begins anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.commands import Notify
from tarmac.core.model.gpu import Activity, Drain
from tarmac.core.model.note import note
from tarmac.core.model.status import Paused, Running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model.ids import GpuUuid
    from tarmac.core.model.job import Job
    from tarmac.core.model.names import Action
    from tarmac.core.model.node import Node
    from tarmac.core.model.note import Note
    from tarmac.core.model.rules import Rules
    from tarmac.core.state import State


class Finding(NamedTuple):
    """What is wrong with how a job uses its GPUs, and what to do about it."""

    warning: Note
    action: Action


FRESH_S = 30.0  # how long a reading holds; a node reports at least every 15 s
# Using this much more than booked is tolerated: a CUDA context alone takes some hundred MiB.
SPARE_PART, SPARE_BYTES = 0.05, 256 * 2**20


def is_fresh(node: Node, now: float) -> bool:
    return node.read_at is not None and abs(now - node.read_at) <= FRESH_S


def note_reading(state: State, node: Node, now: float) -> None:
    """After a long silence (agent or controller away, clock set) nothing is known about the time between."""
    if not is_fresh(node, now):
        node.activity = {job: Activity() for job in node.activity}
        for uuid, drain in list(node.drains.items()):
            if drain.healthy_since is not None:
                state.set_drain(node, uuid, replace(drain, healthy_since=None))
    node.read_at = now


def watch_gpus(state: State, node: Node, now: float) -> Iterator[Notify]:
    """Drain unhealthy GPUs; resume those that Tarmac drained and that have been healthy for `healthy_s`."""
    for uuid in list(node.uses):
        drain = node.drains.get(uuid)
        health = node.uses[uuid].health
        if drain is None and health is not None:
            state.set_drain(node, uuid, Drain(reason=health, by=None, since=now))
            gpu = f"GPU {node.gpus[uuid].index}" if uuid in node.gpus else uuid
            yield Notify(what="gpu-drained", message=note("notice.gpu_drained", gpu=gpu, node=node.name, reason=health))
        elif drain is not None and drain.by is None:
            _watch_unhealthy(state, node, uuid, drain, health, now)


def _watch_unhealthy(state: State, node: Node, uuid: GpuUuid, drain: Drain, health: str | None, now: float) -> None:
    if health is not None:
        if drain.healthy_since is not None or drain.reason != health:
            state.set_drain(node, uuid, replace(drain, reason=health, healthy_since=None))
    elif drain.healthy_since is None:
        state.set_drain(node, uuid, replace(drain, healthy_since=now))
    elif now - drain.healthy_since >= state.rules.healthy_s:
        state.set_drain(node, uuid, None)


def watch_jobs(state: State, node: Node, now: float) -> Iterator[tuple[Job, Finding]]:
    rules = state.rules
    for number in list(node.host):
        job = state.jobs[number]
        if isinstance(job.status, Paused):
            node.activity.pop(number, None)  # neither idle nor greedy: it was asked to do nothing
        elif isinstance(job.status, Running) and job.status.booking.gpus_on(node.name):
            before = node.activity.get(number, Activity())
            over = _over_booking(node, job)
            after = overused(observed(before, _load(node, job), now, rules), is_over=over is not None, now=now)
            idle, overuse = _idle_finding(before, after, now, rules), _overuse_finding(after, over, now, rules)
            yield from ((job, finding) for finding in (idle, overuse) if finding is not None)
            node.activity[number] = replace(
                after,
                is_warned=idle_s(after, now) >= rules.idle_warn_s,
                is_over_booking=_is_long_over(after, now, rules),
                overuse_warned_at=now if overuse is not None else after.overuse_warned_at,
            )


def observed(activity: Activity, load: float | None, now: float, rules: Rules) -> Activity:
    """One more reading. A job of unknown load counts as busy: no job is stopped on a guess."""
    if load is None or load >= rules.idle_load:
        return replace(activity, idle_since=None)
    return activity if activity.idle_since is not None else replace(activity, idle_since=now)


def overused(activity: Activity, *, is_over: bool, now: float) -> Activity:
    """One more reading. A single one within the booking restarts the count."""
    if not is_over:
        return replace(activity, over_since=None, overuse_warned_at=None)
    return activity if activity.over_since is not None else replace(activity, over_since=now)


def idle_s(activity: Activity, now: float) -> float:
    return 0.0 if activity.idle_since is None else max(0.0, now - activity.idle_since)


def is_to_stop(activity: Activity, now: float, rules: Rules) -> bool:
    """Never before the warning, nor together with it."""
    return rules.idle_action == "stop" and activity.is_warned and idle_s(activity, now) >= rules.idle_stop_s


def _idle_finding(before: Activity, after: Activity, now: float, rules: Rules) -> Finding | None:
    warning = note("warning.idle", seconds=idle_s(after, now))
    if is_to_stop(before, now, rules) and after.idle_since is not None:
        return Finding(warning, "stop")
    if not before.is_warned and idle_s(after, now) >= rules.idle_warn_s:
        return Finding(warning, "none" if rules.idle_action == "none" else "warn")
    return None


def _overuse_finding(after: Activity, over: Note | None, now: float, rules: Rules) -> Finding | None:
    """First a warning, whatever the action is; the stop follows `overbooked_s` later at the earliest."""
    if over is None or rules.overbooked_action == "none" or not _is_long_over(after, now, rules):
        return None
    if after.overuse_warned_at is None:
        return Finding(over, "warn")
    if rules.overbooked_action == "stop" and now - after.overuse_warned_at >= rules.overbooked_s:
        return Finding(over, "stop")
    return None


def _is_long_over(activity: Activity, now: float, rules: Rules) -> bool:
    return activity.over_since is not None and now - activity.over_since >= rules.overbooked_s


def _load(node: Node, job: Job) -> float | None:
    """The load of its busiest GPU; None if the load of one is unknown."""
    assert isinstance(job.status, Running)
    uuids = [gpu.uuid for gpu in job.status.booking.gpus_on(node.name)]
    loads = [node.uses[uuid].load for uuid in uuids if _is_read(node, uuid)]
    known = [load for load in loads if load is not None]
    return max(known) if known and len(known) == len(uuids) else None


def _is_read(node: Node, uuid: GpuUuid) -> bool:
    """An unhealthy GPU may have been read long ago."""
    return uuid in node.uses and node.uses[uuid].health is None


def _over_booking(node: Node, job: Job) -> Note | None:
    assert isinstance(job.status, Running)
    taken = node.taken_bytes.get(job.id, {})
    for gpu in job.status.booking.gpus_on(node.name):
        most = gpu.memory_bytes + max(SPARE_PART * gpu.memory_bytes, SPARE_BYTES)
        if gpu.memory_bytes and _is_read(node, gpu.uuid) and taken.get(gpu.uuid, 0) > most:
            return note(
                "warning.overbooked",
                gpu=gpu.index,
                taken_bytes=taken[gpu.uuid],
                booked_bytes=gpu.memory_bytes,
            )
    return None
