"""When a job would start if it were submitted or edited now, and what it would wait for. Nothing is changed.

The job is explained and planned by the functions that explain and plan waiting jobs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.explain.explainer import Explainer
from tarmac.core.forecast.queue_forecast import estimates
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.status import Draft, Held, Queued
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.controller import Controller
    from tarmac.core.explain.reasons import Reason
    from tarmac.core.forecast.queue_forecast import Estimate
    from tarmac.core.model.job import JobSpec
    from tarmac.core.model.names import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPreview:
    """Without reasons, the job would start at once."""

    reasons: Sequence[Reason]
    estimate: Estimate | None


def preview_start(controller: Controller, spec: JobSpec, entry: Entry) -> StartPreview:
    """Of a job that would be submitted."""
    now = controller.now()
    number = JobId(controller.state.next_id)
    status = Held(by=spec.owner, since=now) if entry == "held" else Draft() if entry == "draft" else Queued()
    return _preview(controller, Job(id=number, spec=spec, submitted_at=now, position=float(number), status=status))


def preview_edit(controller: Controller, job: Job, spec: JobSpec) -> StartPreview:
    """Of a waiting job that would be edited."""
    return _preview(controller, replace(job, spec=spec))


def _preview(controller: Controller, job: Job) -> StartPreview:
    state, now = controller.state, controller.now()
    reasons = Explainer(state, now).reasons(job)
    if not isinstance(job.status, Queued) or not reasons:
        return StartPreview(reasons=reasons, estimate=None)
    found = estimates(state, now, controller.progress.ends(), job)
    return StartPreview(reasons=reasons, estimate=found.get(job.id))
