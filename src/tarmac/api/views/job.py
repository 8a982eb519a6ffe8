"""Jobs as people and programs see them. `JobView` declares the fields; this room reads each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.api.schemas.job.job import JobView, LinkView, WholeJobView
from tarmac.api.views.attempts import attempt_views
from tarmac.api.views.fetch import fetch_view
from tarmac.api.views.job_fields import COMPUTED, NEEDS, STORED, leftovers_of, reserved_gpu_memory
from tarmac.api.views.parts import part_views
from tarmac.api.views.python import python_view
from tarmac.api.views.snapshot import snapshot_view
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.notes import status_message
from tarmac.api.wording.outcomes import remedy_words
from tarmac.api.wording.why.degraded import still_true, unwritten
from tarmac.api.wording.why.reasons import ahead_words, gpu_lines, sentences
from tarmac.api.wording.why.starting import start_lines
from tarmac.api.wording.why.why import paused_lines, with_estimates
from tarmac.controller.accounts.job_usage import has_usage, usage_so_far
from tarmac.controller.log_paths import stderr_path, stdout_path
from tarmac.core.explain.explainer import Explainer
from tarmac.core.explain.reasons import KeptFor, TooFewGpus
from tarmac.core.forecast.queue_forecast import position_of
from tarmac.core.model.status import STATUS_TYPES, Queued, state_name
from tarmac.refusal import invalid
from tarmac.shared.job_options import JOB_OPTIONS

if TYPE_CHECKING:
    from tarmac.api.views.job_fields import Getter
    from tarmac.controller.controller import Controller
    from tarmac.controller.forecast_cache import Forecast
    from tarmac.core.explain.reasons import Reason
    from tarmac.core.forecast.queue_forecast import Estimate
    from tarmac.core.model.job import Job
    from tarmac.core.model.names import StateName
    from tarmac.store.accounts import Usage
    from tarmac.store.batch import Link

OF_USAGE = frozenset({"peak_gpu_memory_bytes", "utilization", "energy_j"})
# Options that only the answer about a single job contains.
_SINGLE_OPTIONS = [(option.view, option.wire) for option in JOB_OPTIONS if option.view and not option.in_list]


class Viewer:
    """Makes views of one moment. What jobs share (why they wait, their places) is computed once, when first needed.

    `is_fresh`: places and estimates, too, are computed for this moment instead of taken from the cache.
    """

    def __init__(self, controller: Controller, *, is_fresh: bool = False) -> None:
        self.controller: Controller = controller
        self.now = controller.now()
        self._is_fresh = is_fresh
        self._explainer: Explainer | None = None
        self._forecast: Forecast | None = None
        self._usage: Usage | None = None  # of the last job that was asked for
        self._stored_usage: dict[int, Usage | None] = {}  # of the jobs that are viewed
        self._links: dict[int, list[Link]] = {}  # likewise
        self._sentences: dict[tuple[Reason, ...], str | None] = {}

    def job(self, job: Job) -> JobView:
        return JobView(**self._all_fields(job))

    def fields(self, jobs: Iterable[Job], names: tuple[str, ...]) -> list[dict[str, Any]]:
        """For each job, some fields of a JobView in the given order. The others are not computed.

        What is stored apart from the jobs is read once for all of them.
        """
        rows, reader, jobs = [], self.controller.store.reader, list(jobs)
        if "links" in names:
            self._links = reader.links(job.id for job in jobs)
        if not OF_USAGE.isdisjoint(names):
            stored = reader.usage_of([job.id for job in jobs if has_usage(job)])
            self._stored_usage = {job.id: stored.get(job.id) for job in jobs}
        for job in jobs:
            plan = _plan(names, state_name(job.status))
            values = plan.template.copy()
            values.update(zip(plan.stored, plan.read_stored(job), strict=True))
            for name, getter in plan.computed:
                values[name] = getter(self, job)
            rows.append(values)
        return rows

    def whole_job(self, job: Job) -> WholeJobView:
        """With what only the answer about a single job contains."""
        spec, status = job.spec, job.status
        folder, attempt = self.controller.state_folder, max(job.attempt, 1)
        booking = getattr(status, "booking", None)
        node = None if booking is None else booking.node
        return WholeJobView(
            **self._all_fields(job),
            message=status_message(job),
            error_line=getattr(status, "error_line", None),
            hint=remedy_words(job),
            why=self._why(job),
            pid=getattr(status, "pid", None),
            parts=part_views(self.controller, job),
            umask=spec.umask,
            shell=spec.shell,
            adopted=spec.is_adopted,
            original_id=self.controller.store.reader.original_id(job.id),
            origins=dict(spec.origins),
            clone_of=spec.clone_of,
            rerun_of=spec.rerun_of,
            stdout_path=self.controller.nodes.path_on(node, stdout_path(folder, job, attempt)),
            stderr_path=self.controller.nodes.path_on(node, stderr_path(folder, job, attempt)),
            leftovers=leftovers_of(job),
            snapshot=snapshot_view(self.controller, job),
            fetched=fetch_view(self.controller, job),
            python=python_view(self.controller.fingerprints.of_job(job.id)),
            attempts=attempt_views(self.controller, job, self.usage(job)),
            oom_count=job.ooms,
            reserved_gpu_memory_bytes=reserved_gpu_memory(self.controller, job),
            held_gpu_s=round(self.usage(job).held_s, 3),
            used_gpu_s=round(self.usage(job).used_s, 3),
            **{name: getattr(spec, wire) for name, wire in _SINGLE_OPTIONS},
        )

    def _all_fields(self, job: Job) -> dict[str, Any]:
        return self.fields([job], JobView.__struct_fields__)[0]

    def links(self, job: Job) -> list[LinkView]:
        return [LinkView(kind=link.kind, url=link.url) for link in self._links.get(job.id, ())]

    def waiting_reason(self, job: Job) -> str | None:
        if (degraded := unwritten(self.controller, job)) is not None:
            return degraded
        reasons = self._reasons(job)
        if reasons not in self._sentences:
            found = sentences(reasons, self.now, len(self.controller.state.nodes))
            self._sentences[reasons] = say("clauses.several", clauses=found or [say("waiting.about_to_start")])
        return self._sentences[reasons]

    def place(self, job: Job) -> int | None:
        return self._look_ahead().places.get(job.id) if isinstance(job.status, Queued) else None

    def estimate(self, job: Job) -> Estimate | None:
        return self._look_ahead().estimates.get(job.id) if isinstance(job.status, Queued) else None

    def _look_ahead(self) -> Forecast:
        if self._forecast is None:
            self._forecast = self.controller.forecast.now(is_fresh=self._is_fresh)
        return self._forecast

    def _reasons(self, job: Job) -> tuple[Reason, ...]:
        if self._explainer is None:
            self._explainer = Explainer(self.controller.state, self.now)
        reasons = still_true(self.controller, self._explainer.reasons(job))
        if not any(isinstance(reason, KeptFor) for reason in reasons):
            return reasons
        return with_estimates(reasons, self._look_ahead().estimates)

    def _why(self, job: Job) -> list[str]:
        """In a few lines; GET /jobs/ID/why has everything."""
        if starting := start_lines(self.controller, job):
            return [text for _, text in starting]
        reasons, degraded = self._reasons(job), unwritten(self.controller, job)
        if not reasons and degraded is None:
            return []
        state, now = self.controller.state, self.now
        nodes = len(state.nodes)
        has_place = isinstance(job.status, Queued) and job.id not in state.blocked
        place = [ahead_words(position_of(state, job, now) - 1)] if has_place else []
        gpus = [line for reason in reasons if isinstance(reason, TooFewGpus) for line in gpu_lines(reason, now, nodes)]
        paused = paused_lines(state, reasons)
        return [*place, *([] if degraded is None else [degraded]), *sentences(reasons, now, nodes), *paused, *gpus]

    def usage(self, job: Job) -> Usage:
        """What all attempts of the job took, so far or in total."""
        if self._usage is None or self._usage.job != job.id:
            known = self._stored_usage
            stored = known[job.id] if job.id in known else self.controller.store.reader.usage(job.id)
            self._usage = usage_so_far(self.controller, job, stored)
        return self._usage


def checked_fields(words: str | None) -> tuple[str, ...]:
    """The fields of `?fields=`; without it, all."""
    known = JobView.__struct_fields__
    if not words:
        return known
    names = tuple(words.split(","))
    if unknown := [name for name in names if name not in known]:
        raise invalid("jobs.unknown_field", field=unknown[0], known=list(known))
    return names


class _Plan(NamedTuple):
    """How some fields are read: first those that a job stores, all at once, then each of the others by its getter."""

    template: dict[str, Any]  # in order, with the values that a job in this state does not have
    stored: tuple[str, ...]
    read_stored: Callable[[Job], tuple[Any, ...]]
    computed: tuple[tuple[str, Getter], ...]


@lru_cache(maxsize=256)
def _plan(names: tuple[str, ...], state: StateName) -> _Plan:
    known = {field.name for field in fields(STATUS_TYPES[state])}
    template = {name: NEEDS[name].empty if name in NEEDS else None for name in names}
    is_empty = {name for name in names if name in NEEDS and NEEDS[name].attribute not in known}
    computed = tuple((name, COMPUTED[name]) for name in names if name in COMPUTED and name not in is_empty)
    stored = tuple(name for name in names if name in STORED)
    return _Plan(template, stored, _reader([STORED[name] for name in stored]), computed)


def _reader(paths: list[str]) -> Callable[[Job], tuple[Any, ...]]:
    """attrgetter returns a tuple only for two paths or more."""
    if len(paths) > 1:
        return attrgetter(*paths)
    read = [attrgetter(path) for path in paths]
    return lambda job: tuple(one(job) for one in read)
