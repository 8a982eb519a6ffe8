"""Reports of what was held and used."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tarmac.api.schemas.bounds import FilterText

Moment = Annotated[float, Meta(ge=0, le=253_402_300_799)]  # until the end of the year 9999
Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class PeriodQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """`since` and `until`: seconds since 1970. Whole days are counted, by default the last 30; from the first if 0.

    `first_day` and `last_day` name days instead, such as 2026-11-01, in the time zone of the controller.
    """

    since: Moment | None = None
    until: Moment | None = None
    first_day: Day | None = None
    last_day: Day | None = None


class ReportQuery(PeriodQuery, kw_only=True, forbid_unknown_fields=True):
    """What to report, and of which days."""

    by: Literal["owner", "project", "gpu", "day"] = "owner"
    owner: FilterText | None = None
    project: FilterText | None = None  # empty: jobs without one


class ReportSums(Struct, kw_only=True):
    """All times are GPU-seconds: two GPUs for an hour are 7200. A shared GPU counts by the part that is booked."""

    jobs: int | None  # each counts once, with its first attempt; null for a single GPU
    held_s: float
    pause_s: float  # of these, paused
    measured_s: float  # of these, with a known utilization
    used_s: float  # measured, weighted by utilization
    utilization: float | None  # percent, of what was measured
    energy_j: float | None
    peak_gpu_memory_bytes: int | None  # on one GPU


class ReportRow(ReportSums, kw_only=True):
    """`name`: the owner, project, day or GPU; null for jobs without a project, and for GPUs that are not known."""

    name: str | None
    node: str | None = None  # of a GPU
    uuid: str | None = None


class ReportView(Struct, kw_only=True):
    """`foreign`: processes that Tarmac did not start, on GPUs that no job held. `total` includes them."""

    by: str
    since: str  # the first day
    until: str  # the last day
    rows: list[ReportRow]
    foreign: ReportSums | None
    total: ReportSums


class HoursOfDay(Struct, kw_only=True):
    """GPU-seconds of all nodes, for each of the 24 hours; null if nothing is known about an hour."""

    day: str
    present_s: list[float | None]  # with readings
    held_s: list[float | None]  # of these, booked by jobs
    measured_s: list[float | None]  # of these, with a known utilization
    used_s: list[float | None]  # measured, weighted by utilization


class HoursView(Struct, kw_only=True):
    """Every day of the period, the oldest first."""

    since: str  # the first day
    until: str  # the last day
    days: list[HoursOfDay]
