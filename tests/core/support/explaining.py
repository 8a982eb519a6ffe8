"""Why a single job waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.explain.explainer import Explainer

if TYPE_CHECKING:
    from tarmac.core.explain.reasons import Reason
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


def explain(state: State, job: Job, now: float) -> tuple[Reason, ...]:
    return Explainer(state, now).reasons(job)
