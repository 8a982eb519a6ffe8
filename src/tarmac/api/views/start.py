"""When a job would start that is not submitted yet, or not edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.job.jobs import StartView
from tarmac.api.wording.notes import basis_words
from tarmac.api.wording.times import iso
from tarmac.api.wording.why.reasons import sentences
from tarmac.controller.submit.preview import preview_edit, preview_start

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.controller.submit.preview import StartPreview
    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.model.names import Entry


def start_view(controller: Controller, spec: JobSpec, entry: Entry) -> StartView:
    return _view(controller, preview_start(controller, spec, entry))


def edited_start_view(controller: Controller, job: Job, spec: JobSpec) -> StartView:
    return _view(controller, preview_edit(controller, job, spec))


def _view(controller: Controller, found: StartPreview) -> StartView:
    return StartView(
        estimated_start=None if found.estimate is None else iso(found.estimate.start_at),
        estimate_basis=None if found.estimate is None else basis_words(found.estimate.rests_on),
        reasons=sentences(found.reasons, controller.now(), len(controller.state.nodes)),
    )
