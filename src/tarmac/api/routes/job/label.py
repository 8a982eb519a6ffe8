"""Names, tags and notes, which people may change in every state of a job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET

from tarmac.api.deps import Context
from tarmac.api.routes.job.in_parts import JOBS_AT_ONCE, Part, all_but_the_last_part, read_in_parts, select_once
from tarmac.api.schemas.job.selection import LabelAnswer, LabelRequest
from tarmac.controller.engine.decision import Decision
from tarmac.controller.submit.labels import refuse_bad_labels
from tarmac.controller.submit.request import MOST_TAGS
from tarmac.core.events import JobsLabelled
from tarmac.refusal import invalid, not_found

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tarmac.core.model.job import JobSpec
    from tarmac.core.state import State


async def label_jobs(context: Context, body: LabelRequest) -> LabelAnswer:
    """Change names, tags and notes of jobs, also of running and ended ones: of all selected jobs, or of none.

    Very many are changed part by part, after all of them were checked.
    """
    controller = context.controller
    refuse_bad_labels([text for text in (body.set_name, body.set_note) if isinstance(text, str)], body.add_tags)
    if body.set_name is UNSET and body.set_note is UNSET and not body.add_tags and not body.remove_tags:
        raise invalid("edit.nothing", fields=["set_name", "add_tags", "remove_tags", "set_note"])

    labels = _Labels(body)
    progress = await select_once(context, body)

    def label(state: State, part: Sequence[int]) -> Part:
        ended_now = state.changes.changed.keys() - state.changes.relabelled.keys()  # the store does not know them yet
        found = controller.jobs(list(part))
        jobs = [state.changes.changed[job.id] if job.id in ended_now else job for job in found]
        event = JobsLabelled(by=context.caller.name, jobs=tuple(replace(job, spec=labels.of(job.spec)) for job in jobs))
        return Part([job.id for job in jobs], [event] if jobs else ())

    def plan(state: State) -> Decision[LabelAnswer]:
        part = label(state, last)
        labelled = [*progress.done, *part.done]
        if progress.numbers and not labelled:
            raise not_found("jobs.unknown", jobs=progress.numbers)  # they were removed meanwhile
        return Decision(answer=LabelAnswer(labelled=labelled), events=part.events)

    if body.add_tags and len(progress.rest) > JOBS_AT_ONCE:
        async for jobs in read_in_parts(controller, progress.rest):
            for job in jobs:
                labels.tags(job.spec)
    last = await all_but_the_last_part(context, progress, progress.rest, label)
    return await context.decide(plan, is_begun=progress.is_begun)


class _Labelled(NamedTuple):
    """Keeps the spec, so that no other object gets its identity."""

    before: JobSpec
    after: JobSpec


class _Labels:
    """Changes the labels of specs. Jobs of an array that share a spec share the new one, too."""

    def __init__(self, body: LabelRequest) -> None:
        self._body = body
        self._last: _Labelled | None = None

    def of(self, spec: JobSpec) -> JobSpec:
        if self._last is None or self._last.before is not spec:
            self._last = _Labelled(spec, self._changed(spec))
        return self._last.after

    def tags(self, spec: JobSpec) -> tuple[str, ...]:
        """Refuses too many of them."""
        kept = [tag for tag in spec.tags if tag not in self._body.remove_tags]
        tags = tuple(dict.fromkeys([*kept, *self._body.add_tags]))
        if len(tags) > MOST_TAGS:
            raise invalid("label.too_many_tags", most=MOST_TAGS)
        return tags

    def _changed(self, spec: JobSpec) -> JobSpec:
        changed: dict[str, Any] = {"tags": self.tags(spec)}
        if self._body.set_name is not UNSET:
            changed["name"] = self._body.set_name or None
        if self._body.set_note is not UNSET:
            changed["note"] = self._body.set_note or None
        return replace(spec, **changed)
