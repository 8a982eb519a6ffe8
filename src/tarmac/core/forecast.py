"""The line as it stands and when each of its first jobs will likely start. For people; nothing is decided by it."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace, nsmallest
from math import inf
from typing import TYPE_CHECKING

from tarmac.core.limits import gpus_asked
from tarmac.core.policy.card import Drained, OutsideUse, Taken, TooLittleMemory, Unsuitable, refusal_of
from tarmac.core.policy.eligible import gate
from tarmac.core.policy.ordered import Score, owner_score
from tarmac.core.queue import turn_of

if TYPE_CHECKING:
    from tarmac.core.model import GpuUuid, Job, JobId, Node, NodeName
    from tarmac.core.queue import Turn
    from tarmac.core.state import State

MOST_LINED_UP = 1000
MOST_LOOKS = 20_000  # jobs times nodes that are planned ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    start_at: float
    basis: str  # what it rests on, in words


@dataclass(slots=True)
class _Slot:
    """A card: when it comes free, and what that rests on."""

    at: float
    rests_on: frozenset[str]


def line_up(state: State, now: float, most: int = MOST_LINED_UP) -> list[JobId]:
    """The first waiting jobs in the order in which they will be looked at, if nothing new happens."""
    own: dict[str, list[Turn]] = {}
    for klass in state.queue.classes.values():
        tier = klass.key[2]
        firsts = nsmallest(most, ((*rank, job) for job, rank in klass.waiting.items()))
        own.setdefault(klass.owner, []).extend((tier, *first) for first in firsts)
    for turns in own.values():
        turns.sort(reverse=True)
    more = dict.fromkeys(own, 0.0)  # GPUs of those that are in the list already
    heap = [(_key(state, owner, turns[-1], now, 0.0), owner) for owner, turns in own.items()]
    heapify(heap)
    found: list[JobId] = []
    while heap and len(found) < most:
        owner = heap[0][1]
        job = state.jobs[own[owner].pop()[3]]  # type: ignore[index]
        found.append(job.id)
        more[owner] += gpus_asked(job.spec)
        if own[owner]:
            heapreplace(heap, (_key(state, owner, own[owner][-1], now, more[owner]), owner))
        else:
            heappop(heap)
    return found


def position_of(state: State, job: Job, now: float) -> int:
    """Its place in the line, from 1 on. Far behind, an owner's own order has to do."""
    line = line_up(state, now)
    if job.id in line:
        return line.index(job.id) + 1
    turn = turn_of(job)
    ahead = sum((klass.key[2], *rank, other) < turn for klass in state.queue.classes.values()
                for other, rank in klass.waiting.items())  # fmt: skip
    return ahead + 1


def estimates(state: State, now: float) -> dict[JobId, Estimate]:
    """By planning the line ahead on the ends that are known. Jobs of which nobody can say are left out."""
    if state.mode.is_paused:
        return {}
    most = max(10, min(MOST_LINED_UP // 2, MOST_LOOKS // max(1, len(state.nodes))))
    slots = {name: _slots(state, node, now) for name, node in state.nodes.items() if node.is_connected}
    found: dict[JobId, Estimate] = {}
    for number in line_up(state, now, most):
        job = state.jobs[number]
        if not job.spec.request.gpus or gate(state, job, now) is not None:
            continue
        planned = _planned(state, job, slots, now)
        if planned is not None:
            found[number] = planned
    return found


def _planned(state: State, job: Job, slots: dict[NodeName, dict[GpuUuid, _Slot]], now: float) -> Estimate | None:
    """The earliest node; its cards are then taken until the job would be over."""
    request, best = job.spec.request, None
    for name, cards in slots.items():
        node = state.nodes[name]
        usable = [slot for uuid, slot in cards.items() if _could_serve(state, node, uuid, job)]
        if len(usable) >= request.gpus:
            chosen = sorted(usable, key=lambda slot: slot.at)[: request.gpus]
            if best is None or chosen[-1].at < best[-1].at:
                best = chosen
    if best is None or best[-1].at == inf:
        return None
    start_at = max(now, best[-1].at)
    rests_on = frozenset().union(*(slot.rests_on for slot in best))
    expected = state.durations.expected_s(job.spec)
    own = "limit" if job.spec.time_limit_s is not None else "history"
    for slot in best:
        slot.at = inf if expected is None else start_at + expected
        slot.rests_on = rests_on | {own}
    return Estimate(start_at=start_at, basis=basis_in_words(rests_on))


def _slots(state: State, node: Node, now: float) -> dict[GpuUuid, _Slot]:
    found: dict[GpuUuid, _Slot] = {}
    for uuid in node.gpus:
        ends = [state.durations.end_of(state.jobs[job], now) for job in node.booked.get(uuid, ())]
        known = [end for end in ends if end is not None]
        at = max((end.at for end in known), default=now) if len(known) == len(ends) else inf
        found[uuid] = _Slot(max(now, at), frozenset(end.rests_on for end in known))
    return found


def _could_serve(state: State, node: Node, uuid: GpuUuid, job: Job) -> bool:
    """Once whoever holds it now has left."""
    reason = refusal_of(node, node.gpus[uuid], job.spec.request, state.rules)
    match reason:
        case None | Taken() | TooLittleMemory():
            return True
        case Unsuitable() | Drained() | OutsideUse():
            return False


def _key(
    state: State, owner: str, turn: Turn, now: float, more: float
) -> tuple[int, Score | tuple[int, float], float, int]:
    tier, priority, position, job = turn
    if state.rules.policy == "fifo":
        return (tier, (priority, position), 0.0, job)
    group, points = owner_score(state, owner, now)
    share = state.rules.shares(owner)
    if state.rules.policy == "balance" and share:
        points += more / abs(share)
    return (tier, (group, points), state.jobs[job].submitted_at, job)  # type: ignore[index]


def basis_in_words(rests_on: frozenset[str]) -> str:
    words = {
        "limit": "the time limits of jobs",
        "history": "how long such jobs took before",
        "stop": "jobs that are stopping",
    }
    return " and ".join(words[one] for one in ("stop", "limit", "history") if one in rests_on) or "what is free now"
