"""Results of jobs: their parameters, and the metrics they wrote to logs or files."""

from __future__ import annotations

import asyncio
import os
import re
from math import isfinite
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from starlette.responses import Response

from tarmac.api.answers import csv_answer
from tarmac.api.deps import Context
from tarmac.api.routes.job.jobs import selected
from tarmac.api.schemas.results import MetricRequest, ResultsCsvRequest, ResultsRequest, ResultsView, ResultView
from tarmac.api.views.group import group_views
from tarmac.controller.requests.permissions import refuse_others_jobs
from tarmac.controller.requests.selectors import group_named
from tarmac.controller.results.metrics import Found, Wanted, find_metrics
from tarmac.core.model.status import state_name
from tarmac.refusal import invalid
from tarmac.shared.metric_patterns import NoValueGroup, metrics_of
from tarmac.shared.tables import results as table
from tarmac.shared.tables.results import is_smaller_better

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.shared.frames.to_agent import MetricPattern

MOST_JOBS = 100_000
AT_ONCE = 1000  # jobs, between two turns of others


async def results(context: Context, body: ResultsRequest) -> ResultsView:
    """List parameters and metrics of jobs. Of a job that runs, a metric is the newest one."""
    controller, caller = context.controller, context.caller.name
    if not body.metrics and body.json is None:
        raise invalid("results.nothing_asked")
    if body.json is not None and (os.path.isabs(body.json) or ".." in body.json.split("/")):
        raise invalid("results.file_elsewhere", file=body.json)
    named = _named(body)
    wanted = Wanted(patterns=tuple(map(_pattern, named.values())), json=body.json, keys=tuple(body.keys))
    numbers = selected(controller, caller, body)
    if len(numbers) > MOST_JOBS:
        raise invalid("results.too_many", jobs=len(numbers), most=MOST_JOBS)
    jobs: list[Job] = []
    for start in range(0, len(numbers), AT_ONCE):
        some = controller.jobs(numbers[start : start + AT_ONCE])
        refuse_others_jobs(some, context.caller)
        jobs += some
        await asyncio.sleep(0)
    found = await find_metrics(controller, jobs, wanted)
    names = list(named)
    keys = list(dict.fromkeys([*body.keys, *(key for values in found.json.values() for key in values)]))
    group = None if body.group is None else group_named(controller.store.reader, caller, body.group)
    views: list[ResultView] = []
    for start in range(0, len(jobs), AT_ONCE):
        views += [_view(job, names, keys, found) for job in jobs[start : start + AT_ONCE]]
        await asyncio.sleep(0)
    return ResultsView(
        group=None if group is None else group_views(controller, [group])[0],
        metrics=(metrics := list(dict.fromkeys([*names, *keys]))),
        smaller_is_better=[name for name in metrics if is_smaller_better(name)],
        jobs=views,
        unread=list(found.unread),
    )


async def results_csv(context: Context, body: ResultsCsvRequest) -> Response:
    """The same as comma-separated values, the best first, as `tarmac results --csv` prints them."""
    found = await results(context, body)
    metric = body.sort or (found.metrics[0] if found.metrics else None)
    smaller_first = metric in found.smaller_is_better if body.smaller_first is None else body.smaller_first
    jobs = table.best_first([to_builtins(job) for job in found.jobs], metric, smaller_first=smaller_first)
    name = "tarmac-results" if found.group is None else f"tarmac-results-{found.group.id}"
    return csv_answer(table.results_csv(found.metrics, jobs), f"{name}.csv")


def _named(body: ResultsRequest) -> dict[str, MetricRequest]:
    """The metrics by name. One pattern may ask for several."""
    found: dict[str, MetricRequest] = {}
    for metric in [one for given in body.metrics for one in _named_by_pattern(given)]:
        name = metric.name or ""
        if name in found:
            raise invalid("results.same_name", name=name)
        found[name] = metric
    return found


def _named_by_pattern(metric: MetricRequest) -> list[MetricRequest]:
    if metric.name is not None:
        return [metric]
    try:
        found = metrics_of(metric.pattern)
    except re.error as error:
        raise invalid("results.bad_pattern", pattern=metric.pattern, trouble=str(error)) from None
    except NoValueGroup as error:
        raise invalid("results.no_value", pattern=metric.pattern, name=error.name) from None
    return [MetricRequest(name=one.name, pattern=metric.pattern, group=one.group) for one in found]


def _pattern(metric: MetricRequest) -> MetricPattern:
    try:
        compiled = re.compile(metric.pattern)
    except re.error as error:
        raise invalid("results.bad_pattern", pattern=metric.pattern, trouble=str(error)) from None
    known = metric.group in compiled.groupindex if isinstance(metric.group, str) else metric.group <= compiled.groups
    if not known:
        raise invalid("results.no_such_group", pattern=metric.pattern, group=metric.group)
    return {"pattern": metric.pattern, "group": metric.group}


def _view(job: Job, names: list[str], keys: list[str], found: Found) -> ResultView:
    values = found.values.get(job.id) or [None] * len(names)
    written = found.json.get(job.id, {})
    metrics = dict(zip(names, map(_value, values), strict=True))
    return ResultView(
        id=job.id,
        name=job.spec.name,
        state=state_name(job.status),
        index=job.index,
        params=dict(job.spec.params),
        metrics=metrics | {key: _value(written.get(key)) for key in keys},
    )


def _value(value: Any) -> float | str | None:
    """A number where it reads as one."""
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)
    return number if isfinite(number) else str(value)
