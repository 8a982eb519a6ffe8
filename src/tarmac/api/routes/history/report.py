"""Reports of what was held and used, by owner, project, GPU or day, and by the hour."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from starlette.responses import Response

from tarmac.api.answers import csv_answer
from tarmac.api.deps import Context
from tarmac.api.schemas.history.report import (
    HoursOfDay,
    HoursView,
    PeriodQuery,
    ReportQuery,
    ReportRow,
    ReportSums,
    ReportView,
)
from tarmac.controller.accounts.days import noon
from tarmac.controller.accounts.hours_report import hours_at_rest
from tarmac.controller.accounts.report import ReportRequest, report_at_rest
from tarmac.controller.submit.gpu_names import name_with
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.refusal import invalid
from tarmac.shared.tables import report as table
from tarmac.store.node_hours import HourSums

if TYPE_CHECKING:
    from tarmac.controller.accounts.hours_report import DayOfHours
    from tarmac.controller.accounts.report import Report
    from tarmac.core.state import State
    from tarmac.store.accounts import By, Key, Sums

DAYS = 30
MOST_DAYS_OF_HOURS = 400
DAY_S = 86400


async def show_report(context: Context, query: ReportQuery) -> ReportView:
    """Report the GPU time that jobs held and used. Running jobs are counted up to now."""
    controller = context.controller
    since, until = _period(query, controller.now())
    request = ReportRequest(by=query.by, since=since, until=until, owner=query.owner, project=query.project)
    found = await report_at_rest(controller, request)
    return ReportView(
        by=query.by,
        since=found.since,
        until=found.until,
        rows=_rows(found, query.by, controller.state),
        foreign=None if found.foreign is None else ReportSums(**_sums(found.foreign)),
        total=ReportSums(**_sums(found.total)),
    )


async def report_csv(context: Context, query: ReportQuery) -> Response:
    """The same report as comma-separated values, as `tarmac report --csv` prints them."""
    found = await show_report(context, query)
    name = f"tarmac-report-by-{found.by}-{found.since}-to-{found.until}.csv"
    return csv_answer(table.report_csv(to_builtins(found)), name)


async def show_hours(context: Context, query: PeriodQuery) -> HoursView:
    """Report how busy all GPUs were in each hour, by the clock of the controller: the last 400 days of the period."""
    now = context.controller.now()
    since, until = _period(query, now)
    if since:
        since = max(since, (now if until is None else until) - MOST_DAYS_OF_HOURS * DAY_S)
    return await asyncio.to_thread(_hours_view, await hours_at_rest(context.controller, since, until))


def _hours_view(days: list[DayOfHours]) -> HoursView:
    days = days[-MOST_DAYS_OF_HOURS:]
    return HoursView(
        since=days[0].day,
        until=days[-1].day,
        days=[
            HoursOfDay(day=one.day, **{name: [_figure(hour, name) for hour in one.hours] for name in HourSums._fields})
            for one in days
        ],
    )


def _figure(hour: HourSums | None, name: str) -> float | None:
    return None if hour is None else round(getattr(hour, name), 1)


def _period(query: PeriodQuery, now: float) -> tuple[float, float | None]:
    since = _moment("since", query.since, "first_day", query.first_day)
    until = _moment("until", query.until, "last_day", query.last_day)
    since = now - DAYS * DAY_S if since is None else since
    if since > (now + DAY_S / 2 if until is None else until):
        raise invalid("report.wrong_span")
    return since, until


def _moment(name: str, moment: float | None, day_name: str, day: str | None) -> float | None:
    """Given in seconds, or as a day."""
    if day is None:
        return moment
    if moment is not None:
        raise invalid("report.moment_and_day", moment=name, day=day_name)
    try:
        return noon(day)
    except (ValueError, OverflowError):
        raise invalid("report.no_such_day", day=day) from None


def _rows(found: Report, by: By, state: State) -> list[ReportRow]:
    """Days and GPUs in their order, owners and projects by what they held."""
    rows = [_row(key, sums, by, state) for key, sums in found.rows.items()]
    if by in {"owner", "project"}:
        return sorted(rows, key=lambda row: (-row.held_s, row.name or ""))
    return sorted(rows, key=lambda row: (row.node or "", _order(row.name)))


def _order(name: str | None) -> tuple[bool, int, str]:
    """GPU 10 after GPU 9, and GPUs that are gone, which have no index, last."""
    index = (name or "").rpartition(":")[2]
    return not index.isdecimal(), int(index) if index.isdecimal() else 0, name or "~"


def _row(key: Key, sums: Sums, by: By, state: State) -> ReportRow:
    if by != "gpu":
        return ReportRow(name=key.name or None, **_sums(sums))
    node = state.nodes.get(NodeName(key.node))
    gpu = None if node is None else node.gpus.get(GpuUuid(key.name))
    name = name_with(NodeName(key.node), None if gpu is None else gpu.index, GpuUuid(key.name), state.nodes)
    figures = {**_sums(sums), "jobs": None}  # a job may use several GPUs
    return ReportRow(name=name or None, node=key.node or None, uuid=key.name or None, **figures)


def _sums(sums: Sums) -> dict[str, Any]:
    return {
        "jobs": sums.jobs,
        "held_s": round(sums.held_s, 3),
        "pause_s": round(sums.pause_s, 3),
        "measured_s": round(sums.measured_s, 3),
        "used_s": round(sums.used_s, 3),
        "utilization": round(100 * sums.used_s / sums.measured_s, 1) if sums.measured_s else None,
        "energy_j": None if sums.energy_j is None else round(sums.energy_j, 1),
        "peak_gpu_memory_bytes": sums.peak_bytes,
    }
