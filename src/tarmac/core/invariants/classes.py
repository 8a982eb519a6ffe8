"""Do the classes of waiting jobs agree with their kinds, and with what they remember about their first jobs?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tarmac.core.policy.order.order import TurnOrder
from tarmac.core.policy.plans.candidates import is_full
from tarmac.core.policy.plans.exclusions import lengths_of
from tarmac.core.queue.queue import MAX_FIRST
from tarmac.core.queue.request_kinds import amounts_of, kind_key

if TYPE_CHECKING:
    from tarmac.core.queue.queue import ClassKey, JobClass
    from tarmac.core.queue.request_kinds import KindKey
    from tarmac.core.state import State


def class_violations(state: State) -> list[str]:
    owners = [
        *state.queue.owners.values(),
        *(own for kind in state.queue.kinds.values() for own in kind.owners.values()),
    ]
    wide = [
        f"{own.wide} classes of {own.owner} are thought to be wide"
        for own in owners
        if own.wide != sum(key.request.is_wide for key in own.classes)
    ]
    remembered = (line for klass in state.queue.classes.values() for line in _remembered(state, klass))
    return [*_kinds(state), *_least(state), *wide, *remembered, *_full_pass(state)]


def _full_pass(state: State) -> list[str]:
    """As long as no node changes, the job whose turn it was goes first, and no job fits."""
    known = state.full_pass
    if known is None or known.read != state.fit_cache.touched.position:
        return []
    first = TurnOrder(state, state.now).first()
    is_first = first is not None and first[1] == known.job
    return [] if is_first and is_full(state) else [f"the last pass is thought to be full for job {known.job}"]


def _kinds(state: State) -> list[str]:
    """Every class is in its kind."""
    queue, found = state.queue, []
    expected: dict[KindKey, dict[str, set[ClassKey]]] = {}
    for key, klass in queue.classes.items():
        name = kind_key(key.request, key.limit_magnitude)
        expected.setdefault(name, {}).setdefault(key.owner, set()).add(key)
        if klass.kind is not queue.kinds.get(name):
            found.append(f"class {key.owner}/{key.request} is not of kind {name}")
    listed = {
        name: {owner: set(own.classes) for owner, own in kind.owners.items()} for name, kind in queue.kinds.items()
    }
    return found if listed == expected else [*found, f"classes by kind are {listed}, should be {expected}"]


def _least(state: State) -> list[str]:
    """No request of a kind asks for less than the least."""
    found = []
    for name, kind in state.queue.kinds.items():
        asked = Counter(key.request for own in kind.owners.values() for key in own.classes)
        if kind.requests != asked:
            found.append(f"requests of {name} are {kind.requests}, should be {asked}")
        elif any(amounts_of(request).least(least := amounts_of(kind.least())) != least for request in asked):
            found.append(f"{kind.least()} is thought to be the least of {list(asked)}")
    known = {kind: group.request for group in state.queue.least.groups() for kind in group.kinds}
    fresh = {kind: kind.least() for kind in state.queue.kinds.values()}
    is_known = known == fresh and all(group.kinds for group in state.queue.least.groups())
    return found if is_known else [*found, f"least requests are {known}, should be {fresh}"]


def _remembered(state: State, klass: JobClass) -> list[str]:
    first_jobs = [job for _, job in sorted((rank, job) for job, rank in klass.waiting.items())][:MAX_FIRST]
    if klass.first_jobs() != first_jobs:
        return [f"the first jobs of {klass.owner} are thought to be {klass.first_jobs()}, should be {first_jobs}"]
    limits_s = [state.jobs[job].spec.time_limit_s for job in first_jobs]
    if klass.first_limits_s is not None and klass.first_limits_s != limits_s:
        return [f"the limits of {klass.owner}'s first jobs are thought to be {klass.first_limits_s}, it is {limits_s}"]
    if klass.shortest is None or klass.shortest.learned != state.runtimes.learned.get(klass.owner, 0):
        return []
    lengths = [lengths_of(state, state.jobs[job].spec) for job in first_jobs]
    shortest = (min(one.usual_s for one in lengths), min(one.cautious_s for one in lengths))
    if (klass.shortest.usual_s, klass.shortest.cautious_s) == shortest:
        return []
    return [f"the shortest jobs of {klass.owner} are thought to take {klass.shortest}, should be {shortest}"]
