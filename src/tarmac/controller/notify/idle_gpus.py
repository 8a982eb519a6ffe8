"""Reports GPUs that stay free while jobs wait: because of a limit, or a plan that holds them back for too long.

Looked at once a minute, and only while jobs wait. Each GPU is reported once, until it is used again.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.engine.decision import Decision
from tarmac.controller.notify.job_events import of_queue
from tarmac.store.outbox import OutboxChanges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.notify.targets import Subscription
    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.state import State

LOOK_EVERY_S = 60.0


class FreeGpu(NamedTuple):
    node: NodeName
    uuid: GpuUuid


class IdleGpus:
    def __init__(self, engine: Engine, subscriptions: Sequence[Subscription]) -> None:
        self._engine = engine
        self._subscriptions = [one for one in subscriptions if "gpu-idle" in one.events]
        self._since: dict[FreeGpu, float] = {}
        self._reported: set[FreeGpu] = set()
        self._timer: asyncio.TimerHandle | None = None
        if self._subscriptions:
            engine.after_commit.append(self._follow)

    def _follow(self) -> None:
        """A job may have used a GPU and left it since the last look."""
        state = self._engine.state
        for gpu in [gpu for gpu in self._since if state.node(gpu.node).holders(gpu.uuid)]:
            del self._since[gpu]
            self._reported.discard(gpu)
        self._look_later()

    def _look_later(self) -> None:
        if self._timer is None and (self._engine.state.queue or self._since):
            every_s = min(LOOK_EVERY_S, self._engine.settings.in_force.gpu_idle_s)
            self._timer = asyncio.get_running_loop().call_later(max(every_s, 1.0), self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.look()
        self._look_later()

    def look(self) -> None:
        """Report GPUs that have been free for long enough, all in one notification."""
        state, now = self._engine.state, self._engine.now()
        free = set(free_gpus(state, now)) if _has_waiting(state) else set()
        self._since = {gpu: self._since.get(gpu, now) for gpu in free}
        self._reported &= free
        patience_s = self._engine.settings.in_force.gpu_idle_s
        long = sorted(
            gpu for gpu, since in self._since.items() if gpu not in self._reported and now - since >= patience_s
        )
        if not long or self._engine.degraded is not None:
            return
        self._reported.update(long)
        in_force = self._engine.settings.in_force
        due_at = now + in_force.notify_digest_s
        detail = {
            "gpus": [{"node": gpu.node, "index": state.node(gpu.node).gpus[gpu.uuid].index} for gpu in long],
            "idle_s": min(now - self._since[gpu] for gpu in long),
            "waiting": len(state.queue),
        }
        added = list(of_queue(self._subscriptions, "gpu-idle", detail, now, due_at))
        self._engine.put(Decision(answer=None, outbox=OutboxChanges(added=added)))


def _has_waiting(state: State) -> bool:
    """A job waits for a GPU, and the queue is not paused."""
    if state.mode.is_paused:
        return False
    first = (
        next(iter(klass.waiting), None) for klass in state.queue.classes.values()
    )  # all of a class ask for the same
    return any(number is not None and state.jobs[number].spec.request.gpus for number in first)


def free_gpus(state: State, now: float) -> Iterator[FreeGpu]:
    """GPUs that a job could use and nothing uses: neither a job nor a foreign process, not drained, not reserved."""
    active = [one for one in state.reservations.values() if one.begins_at <= now < one.ends_at]
    reserved = {(one.node, uuid) for one in active for uuid in one.gpus}
    for node in state.nodes.values():
        if not node.takes_jobs:
            continue
        for gpu in node.gpus.values():
            use = node.uses.get(gpu.uuid)
            is_usable = use is not None and use.health is None and not use.is_gone and gpu.uuid not in node.drains
            is_held = bool(node.holders(gpu.uuid) or node.mig_relative_holders(gpu))
            is_foreign = use is not None and bool(use.foreign_processes or use.outside_bytes)
            if is_usable and not is_held and not is_foreign and (node.name, gpu.uuid) not in reserved:
                yield FreeGpu(node.name, gpu.uuid)
