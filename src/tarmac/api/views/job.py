"""Jobs as people and programs see them. `JobView` declares the fields; this room reads each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.api.schemas.job import JobView, WholeJobView
from tarmac.api.views.attempts import attempt_views
from tarmac.api.views.job_fields import COMPUTED, STORED, leftovers_of, reserved_gpu_memory
from tarmac.api.wording.catalogue import say
from tarmac.api.wording.degraded import still_true, unwritten
from tarmac.api.wording.notes import hint_words, status_message
from tarmac.api.wording.reasons import ahead_words, gpu_lines, sentences
from tarmac.api.wording.why import paused_lines, with_estimates
from tarmac.controller.accounts.job_usage import usage_so_far
from tarmac.controller.log_paths import stderr_path, stdout_path
from tarmac.core.explain import Explainer, KeptFor, TooFewGpus
from tarmac.core.forecast.queue_forecast import position_of
from tarmac.core.model.status import Queued
from tarmac.refusal import invalid
from tarmac.shared.job_options import JOB_OPTIONS

if TYPE_CHECKING:
    from tarmac.api.views.job_fields import Getter
    from tarmac.controller.controller import Controller
    from tarmac.controller.forecast_cache import Forecast
    from tarmac.core.explain import Reason
    from tarmac.core.forecast.queue_forecast import Estimate
    from tarmac.core.model.job import Job
    from tarmac.store.accounts import Usage

# Options that only the answer about a single job contains.
_SINGLE_OPTIONS = [(option.view, option.wire) for option in JOB_OPTIONS if option.view and not option.in_list]


class Viewer:
    """Makes views of one moment. What jobs share (why they wait, their places) is computed once, when first needed.

    `is_fresh`: places and estimates, too, are computed for this moment instead of taken from the cache.
    """

    def __init__(self, controller: Controller, *, is_fresh: bool = False) -> None:
        self.controller: Controller = controller
        self._is_fresh = is_fresh
        self._explainer: Explainer | None = None
        self._forecast: Forecast | None = None
        self._usage: Usage | None = None  # of the last job that was asked for
        self._sentences: dict[tuple[Reason, ...], str | None] = {}

    def job(self, job: Job) -> JobView:
        return JobView(**self._all_fields(job))

    def fields(self, jobs: Iterable[Job], names: tuple[str, ...]) -> list[dict[str, Any]]:
        """For each job, some fields of a JobView in the given order. The others are not computed."""
        read_stored, computed = _plan(names)
        rows = []
        for job in jobs:
            values = dict(zip(names, read_stored(job), strict=True))
            for name, getter in computed:
                values[name] = getter(self, job)
            rows.append(values)
        return rows

    def whole_job(self, job: Job) -> WholeJobView:
        """With what only the answer about a single job contains."""
        spec, status = job.spec, job.status
        folder, attempt = self.controller.state_folder, max(job.attempt, 1)
        return WholeJobView(
            **self._all_fields(job),
            message=status_message(job),
            error_line=getattr(status, "error_line", None),
            hint=hint_words(job),
            why=self._why(job),
            pid=getattr(status, "pid", None),
            umask=spec.umask,
            shell=spec.shell,
            adopted=spec.is_adopted,
            stdout_path=stdout_path(folder, job, attempt),
            stderr_path=stderr_path(folder, job, attempt),
            leftovers=leftovers_of(job),
            attempts=attempt_views(self.controller, job, self.usage(job)),
            oom_count=job.ooms,
            reserved_gpu_memory_bytes=reserved_gpu_memory(self.controller, job),
            held_gpu_s=round(self.usage(job).held_s, 3),
            used_gpu_s=round(self.usage(job).used_s, 3),
            **{name: getattr(spec, wire) for name, wire in _SINGLE_OPTIONS},
        )

    def _all_fields(self, job: Job) -> dict[str, Any]:
        return self.fields([job], JobView.__struct_fields__)[0]

    def waiting_reason(self, job: Job) -> str | None:
        if (degraded := unwritten(self.controller, job)) is not None:
            return degraded
        reasons = self._reasons(job)
        if reasons not in self._sentences:
            self._sentences[reasons] = "; ".join(
                sentences(reasons, self.controller.now(), len(self.controller.state.nodes))
            ) or say("waiting.about_to_start")
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
            self._explainer = Explainer(self.controller.state, self.controller.now())
        reasons = still_true(self.controller, self._explainer.reasons(job))
        if not any(isinstance(reason, KeptFor) for reason in reasons):
            return reasons
        return with_estimates(reasons, self._look_ahead().estimates)

    def _why(self, job: Job) -> list[str]:
        """In a few lines; GET /jobs/ID/why has everything."""
        if (path := self.controller.start_waits.of(job)) is not None:
            return [say("waiting.silent_path", path=path)]
        reasons, degraded = self._reasons(job), unwritten(self.controller, job)
        if not reasons and degraded is None:
            return []
        state, now = self.controller.state, self.controller.now()
        nodes = len(state.nodes)
        has_place = isinstance(job.status, Queued) and job.id not in state.blocked
        place = [ahead_words(position_of(state, job, now) - 1)] if has_place else []
        gpus = [line for reason in reasons if isinstance(reason, TooFewGpus) for line in gpu_lines(reason, now, nodes)]
        paused = paused_lines(state, reasons)
        return [*place, *([] if degraded is None else [degraded]), *sentences(reasons, now, nodes), *paused, *gpus]

    def usage(self, job: Job) -> Usage:
        """What all attempts of the job took, so far or in total."""
        if self._usage is None or self._usage.job != job.id:
            self._usage = usage_so_far(self.controller, job)
        return self._usage


def checked_fields(words: str | None) -> tuple[str, ...] | None:
    """The fields of `?fields=`; None for all."""
    if not words:
        return None
    known = JobView.__struct_fields__
    names = tuple(words.split(","))
    if unknown := [name for name in names if name not in known]:
        raise invalid("jobs.unknown_field", field=unknown[0], known=list(known))
    return names


class _Plan(NamedTuple):
    """How some fields are read: first those that a job stores, all at once, then each of the others by its getter."""

    read_stored: Callable[[Job], tuple[Any, ...]]  # one value for each field; for a computed one, a placeholder
    computed: tuple[tuple[str, Getter], ...]


@lru_cache(maxsize=64)
def _plan(names: tuple[str, ...]) -> _Plan:
    paths = [STORED.get(name, "id") for name in names]
    computed = tuple((name, COMPUTED[name]) for name in names if name in COMPUTED)
    return _Plan(attrgetter(*paths) if len(paths) > 1 else _single(paths[0]), computed)


def _single(path: str) -> Callable[[Job], tuple[Any, ...]]:
    """attrgetter returns a tuple only for two paths or more."""
    read = attrgetter(path)
    return lambda job: (read(job),)
