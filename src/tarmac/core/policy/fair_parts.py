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

    def is_due(self, job: Job, planned_gpus: float) -> bool:
        """Would its owner, with what runs and what is planned, still not have more than their part of all GPUs?"""
        owner = job.spec.owner
        if owner not in self._shares:
            self._load(owner)
        used = self._state.ledger.gpus_of_owner.get(owner, 0.0) + planned_gpus
        return used + job.spec.request.gpus <= self._gpus * self._shares[owner] / self._total

    def has_due_owners(self, planned_gpus: Counter[str]) -> bool:
        """Does a wide job wait whose owner is due more GPUs?"""
        if not self._shares:
            self._load()
        for owner, own in self._state.queue.owners.items():
            used = self._state.ledger.gpus_of_owner.get(owner, 0.0) + planned_gpus[owner]
            if used < self._gpus * self._shares[owner] / self._total and any(
                key.request.is_wide for key in own.classes
            ):
                return True
        return False

    def _load(self, *more: str) -> None:
        state = self._state
        owners = {*state.queue.owners, *state.ledger.gpus_of_owner, *more}
        self._shares = {owner: max(0.0, state.rules.shares(owner)) for owner in owners}
        self._total = fsum(self._shares.values()) or 1.0  # exact, so that the order of a set has no effect
        self._gpus = sum(len(node.gpus) for node in state.nodes.values() if node.is_connected)
