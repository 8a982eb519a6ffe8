"""What readings mean for cards and for the jobs on them: sick cards drain by themselves, idle and greedy jobs are told.

Only what is due is done: a sample changes nothing by itself unless a line was crossed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.commands import Notify
from tarmac.core.model import Activity, Drain, Running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.core.model import GpuUuid, Job, Node, Rules
    from tarmac.core.state import State

Told: TypeAlias = tuple["Job", str, str]  # the job, what happened, what is to be done: none, warn or stop


def watch_cards(state: State, node: Node, now: float) -> Iterator[Notify]:
    """Drain what is sick; take back what was drained for that and has been well for long enough."""
    for uuid in list(node.uses):
        drain = node.drains.get(uuid)
        health = node.uses[uuid].health
        if drain is None and health is not None:
            state.set_drain(node, uuid, Drain(reason=health, by=None, since=now))
            name = f"GPU {node.gpus[uuid].index}" if uuid in node.gpus else uuid
            yield Notify(what="gpu-drained", message=f"{name} on {node.name} is not used any more: {health}")
        elif drain is not None and drain.by is None:
            _watch_sick(state, node, uuid, drain, health, now)


def _watch_sick(state: State, node: Node, uuid: GpuUuid, drain: Drain, health: str | None, now: float) -> None:
    if health is not None:
        if drain.healthy_since is not None or drain.reason != health:
            state.set_drain(node, uuid, replace(drain, reason=health, healthy_since=None))
    elif drain.healthy_since is None:
        state.set_drain(node, uuid, replace(drain, healthy_since=now))
    elif now - drain.healthy_since >= state.rules.healthy_s:
        state.set_drain(node, uuid, None)


def watch_jobs(state: State, node: Node, now: float) -> Iterator[Told]:
    for number in list(node.host):
        job = state.jobs[number]
        if isinstance(job.status, Running) and job.status.booking.gpus:
            before = node.activity.get(number, Activity())
            after = observed(before, _load(node, job), now, state.rules)
            over = _over_booking(node, job)
            yield from _crossings(job, before, after, over, now, state.rules)
            node.activity[number] = replace(
                after, is_warned=idle_s(after, now) >= state.rules.idle_warn_s, is_over_booking=over is not None
            )


def observed(activity: Activity, load: float | None, now: float, rules: Rules) -> Activity:
    """One more reading. Where the load is not known, a job counts as busy: nobody is stopped on a guess."""
    if load is None or load >= rules.idle_load:
        return replace(activity, idle_since=None)
    return activity if activity.idle_since is not None else replace(activity, idle_since=now)


def idle_s(activity: Activity, now: float) -> float:
    return 0.0 if activity.idle_since is None else max(0.0, now - activity.idle_since)


def is_to_stop(activity: Activity, now: float, rules: Rules) -> bool:
    """Never before the warning, and never in the same breath with it."""
    return rules.idle_action == "stop" and activity.is_warned and idle_s(activity, now) >= rules.idle_stop_s


def _crossings(
    job: Job, before: Activity, after: Activity, over: str | None, now: float, rules: Rules
) -> Iterator[Told]:
    if is_to_stop(before, now, rules) and after.idle_since is not None:
        yield job, f"its GPUs did nothing for {idle_s(after, now) / 60:.0f} min", "stop"
    elif not before.is_warned and idle_s(after, now) >= rules.idle_warn_s:
        action = "none" if rules.idle_action == "none" else "warn"
        yield job, f"its GPUs did nothing for {idle_s(after, now) / 60:.0f} min", action
    if over is not None and not before.is_over_booking and rules.overbooked_action != "none":
        yield job, over, rules.overbooked_action


def _load(node: Node, job: Job) -> float | None:
    """The busiest of its cards; None when one of them does not tell."""
    assert isinstance(job.status, Running)
    loads = [use.load for gpu in job.status.booking.gpus if (use := node.uses.get(gpu.uuid)) is not None]
    known = [load for load in loads if load is not None]
    return max(known) if known and len(known) == len(job.status.booking.gpus) else None


def _over_booking(node: Node, job: Job) -> str | None:
    assert isinstance(job.status, Running)
    taken = node.taken_bytes.get(job.id, {})
    for gpu in job.status.booking.gpus:
        if gpu.memory_bytes and taken.get(gpu.uuid, 0) > gpu.memory_bytes:
            return (
                f"takes {taken[gpu.uuid] / 2**30:.1f} G of GPU {gpu.index}, {gpu.memory_bytes / 2**30:.1f} G are booked"
            )
    return None
