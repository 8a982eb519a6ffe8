"""Which owners have less than their part of the GPUs, by their shares."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter

    from tarmac.core.model.job import Job
    from tarmac.core.state import State


class FairParts:
    """Each owner's part of all GPUs by their share, among the owners who wait or run. The same throughout a pass."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._shares: dict[str, float] = {}  # empty until they are first wanted: most passes never ask
        self._due = ""  # the owner who was found to be due last

    def is_due(self, job: Job, planned_gpus: float) -> bool:
        """Would its owner, with what runs and what is planned, still not have more than their part of all GPUs?"""
        owner = job.spec.owner
        if owner not in self._shares:
            self._load(owner)
        used = self._state.ledger.gpus_of_owner.get(owner, 0.0) + planned_gpus
        return used + job.spec.request.total_gpus <= self._gpus * self._shares[owner] / self._total

    def has_due_owners(self, planned_gpus: Counter[str]) -> bool:
        """Does a wide job wait whose owner is due more GPUs?"""
        if not self._shares:
            self._load()
        owners = self._state.queue.owners
        if self._due in owners and self._has_due(self._due, planned_gpus):
            return True
        for owner in owners:
            if self._has_due(owner, planned_gpus):
                self._due = owner
                return True
        return False

    def _has_due(self, owner: str, planned_gpus: Counter[str]) -> bool:
        used = self._state.ledger.gpus_of_owner.get(owner, 0.0) + planned_gpus.get(owner, 0)
        return self._state.queue.owners[owner].wide > 0 and used < self._gpus * self._shares[owner] / self._total

    def _load(self, *more: str) -> None:
        state = self._state
        owners = {*state.queue.owners, *state.ledger.gpus_of_owner, *more}
        self._shares = {owner: max(0.0, state.rules.shares(owner)) for owner in owners}
        self._total = fsum(self._shares.values()) or 1.0  # exact, so that the order of a set has no effect
        self._gpus = state.fit_cache.gpu_count(state.nodes)
