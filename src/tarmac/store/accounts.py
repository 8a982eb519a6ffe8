"""The roll-up of GPU time by day, owner, project and GPU, and the memory that jobs took. Both outlive the jobs."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from tarmac.records import dataclass

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

Kind: TypeAlias = Literal["job", "foreign"]
By: TypeAlias = Literal["owner", "project", "gpu", "day"]

PEAKS_KEPT = 5  # of each name or command
MOST_PEAKS = 100_000  # of all; the oldest are deleted
_GROUPS: dict[By, str] = {"owner": "'', owner", "project": "'', project", "gpu": "node, gpu", "day": "'', day"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """GPU time to add to one row of the roll-up."""

    day: str
    kind: Kind = "job"
    owner: str
    project: str = ""
    node: str = ""
    gpu: str = ""
    held_s: float = 0.0
    pause_s: float = 0.0
    measured_s: float = 0.0
    used_s: float = 0.0
    energy_j: float | None = None
    peak_bytes: int | None = None
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """The GPU use of an attempt, added to that of the job's earlier attempts."""

    job: int
    peak_gpu_memory_bytes: int | None = None
    utilization: float | None = None  # average, per cent
    energy_j: float | None = None
    held_s: float = 0.0  # GPU-seconds; a shared GPU counts by the part that is booked
    pause_s: float = 0.0
    measured_s: float = 0.0
    used_s: float = 0.0


class Scope(NamedTuple):
    """What a report covers: days, both included, and perhaps one owner or project alone. Empty: no project."""

    first: str
    last: str
    owner: str | None = None
    project: str | None = None

    def covers(self, account: Account) -> bool:
        return (
            self.first <= account.day <= self.last
            and self.owner in {None, account.owner}
            and self.project in {None, account.project}
            and (account.kind == "job" or (self.owner is None and self.project is None))
        )


class Key(NamedTuple):
    """What a row of a report is about. `node` is empty unless the report is by GPU."""

    kind: Kind
    node: str
    name: str


class Sums(NamedTuple):
    held_s: float
    pause_s: float
    measured_s: float
    used_s: float
    energy_j: float | None
    peak_bytes: int | None
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPeak:
    """What a job took on each of its GPUs at most."""

    owner: str
    kind: str
    job: int
    at: float
    peak_bytes: int


def add_accounts(connection: sqlite3.Connection, accounts: Iterable[Account]) -> None:
    connection.executemany(
        "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (day, kind, owner, project, node, gpu) DO UPDATE SET"
        " held_s = held_s + excluded.held_s, pause_s = pause_s + excluded.pause_s,"
        " measured_s = measured_s + excluded.measured_s, used_s = used_s + excluded.used_s,"
        " energy_j = coalesce(energy_j + excluded.energy_j, energy_j, excluded.energy_j),"
        " peak_bytes = coalesce(max(peak_bytes, excluded.peak_bytes), peak_bytes, excluded.peak_bytes),"
        " jobs = jobs + excluded.jobs",
        map(astuple, accounts),
    )


def add_usage(connection: sqlite3.Connection, usage: Iterable[Usage]) -> None:
    connection.executemany(
        "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job) DO UPDATE SET"
        " peak_gpu_memory_bytes = coalesce(max(peak_gpu_memory_bytes, excluded.peak_gpu_memory_bytes),"
        " peak_gpu_memory_bytes, excluded.peak_gpu_memory_bytes),"
        " utilization = CASE WHEN measured_s + excluded.measured_s > 0"
        " THEN round(100 * (used_s + excluded.used_s) / (measured_s + excluded.measured_s), 1)"
        " ELSE coalesce(excluded.utilization, utilization) END,"
        " energy_j = coalesce(energy_j + excluded.energy_j, energy_j, excluded.energy_j),"
        " held_s = held_s + excluded.held_s, pause_s = pause_s + excluded.pause_s,"
        " measured_s = measured_s + excluded.measured_s, used_s = used_s + excluded.used_s",
        map(astuple, usage),
    )


def usage_of(connection: sqlite3.Connection, jobs: Sequence[int]) -> dict[int, Usage]:
    found = connection.execute(
        "SELECT job, peak_gpu_memory_bytes, utilization, energy_j, held_s, pause_s, measured_s, used_s"
        " FROM usage WHERE job IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(jobs).decode(),),
    )
    return {job: Usage(job, *row) for job, *row in found}


def sums(connection: sqlite3.Connection, by: By, scope: Scope) -> dict[Key, Sums]:
    """The rows of a report. Foreign processes are left out of that of one owner or project."""
    group, where, values = _GROUPS[by], "day BETWEEN ? AND ?", [scope.first, scope.last]
    for column, wanted in (("owner", scope.owner), ("project", scope.project)):
        if wanted is not None:
            where += f" AND kind = 'job' AND {column} = ?"
            values.append(wanted)
    found = connection.execute(
        f"SELECT kind, {group}, sum(held_s), sum(pause_s), sum(measured_s),"
        " sum(used_s), sum(energy_j), max(peak_bytes), sum(jobs)"
        f" FROM accounts WHERE {where} GROUP BY kind, {group}",
        values,
    )
    return {Key(*row[:3]): Sums(*row[3:]) for row in found}


def first_day(connection: sqlite3.Connection) -> str | None:
    found: str | None = connection.execute("SELECT min(day) FROM accounts").fetchone()[0]
    return found


def remember_peaks(connection: sqlite3.Connection, peaks: Iterable[MemoryPeak]) -> None:
    for peak in peaks:
        connection.execute(  # of several attempts, the highest
            "INSERT INTO memory_peaks VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner, kind, job)"
            " DO UPDATE SET at = excluded.at, peak_bytes = max(peak_bytes, excluded.peak_bytes)",
            astuple(peak),
        )
        connection.execute(
            "DELETE FROM memory_peaks WHERE owner = ?1 AND kind = ?2 AND job NOT IN"
            " (SELECT job FROM memory_peaks WHERE owner = ?1 AND kind = ?2 ORDER BY at DESC, job DESC LIMIT ?3)",
            (peak.owner, peak.kind, PEAKS_KEPT),
        )


def forget_old_peaks(connection: sqlite3.Connection) -> None:
    connection.execute(
        "DELETE FROM memory_peaks WHERE at < (SELECT at FROM memory_peaks ORDER BY at DESC LIMIT 1 OFFSET ?)",
        (MOST_PEAKS - 1,),
    )


def peaks_of(connection: sqlite3.Connection, owner: str, kind: str) -> list[int]:
    """The memory that the last jobs took, the newest first."""
    found = connection.execute(
        "SELECT peak_bytes FROM memory_peaks WHERE owner = ? AND kind = ? ORDER BY at DESC, job DESC", (owner, kind)
    )
    return [row[0] for row in found]
