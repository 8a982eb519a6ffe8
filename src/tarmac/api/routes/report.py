"""Reports of what was held and used, by owner, project, GPU or day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tarmac.api.deps import Context
from tarmac.api.schemas.report import ReportQuery, ReportRow, ReportSums, ReportView
from tarmac.controller.accounts.report import Wanted, report_at_rest
from tarmac.controller.submit.gpu_names import name_with
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from tarmac.controller.accounts.report import Report
    from tarmac.core.state import State
    from tarmac.store.accounts import By, Key, Sums

DAYS = 30
DAY_S = 86400


async def show_report(context: Context, query: ReportQuery) -> ReportView:
    """Report the GPU time that jobs held and used. Running jobs are counted up to now."""
    controller = context.controller
    now = controller.now()
    since = now - DAYS * DAY_S if query.since is None else query.since
    if since > (now if query.until is None else query.until):
        raise invalid("report.wrong_span")
    wanted = Wanted(by=query.by, since=since, until=query.until, owner=query.owner, project=query.project)
    found = await report_at_rest(controller, wanted)
    return ReportView(
        by=query.by,
        since=found.since,
        until=found.until,
        rows=_rows(found, query.by, controller.state),
        foreign=None if found.foreign is None else ReportSums(**_sums(found.foreign)),
        total=ReportSums(**_sums(found.total)),
    )


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
