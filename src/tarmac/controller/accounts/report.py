"""What was held and used between two days: stored accounts, and running attempts counted up to now."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tarmac.controller.accounts.days import by_day, day_of, midnight, noon
from tarmac.controller.accounts.rollup import running_accounts
from tarmac.controller.engine.decision import Decision
from tarmac.controller.gpus.usage import jobs_with_gpus
from tarmac.records import dataclass
from tarmac.store.accounts import Key, Scope, Sums

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.controller.controller import Controller
    from tarmac.store.accounts import Account, By

NOTHING = Sums(0.0, 0.0, 0.0, 0.0, None, None, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    since: str  # the first day
    until: str  # the last day
    rows: dict[Key, Sums]  # of jobs
    foreign: Sums | None  # of processes that Tarmac did not start
    total: Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """Whole days, from that of `since` to that of `until`. 0: from the first one; None: to the present."""

    by: By = "owner"
    since: float = 0.0
    until: float | None = None
    owner: str | None = None
    project: str | None = None  # empty: jobs without one


async def report_at_rest(controller: Controller, request: ReportRequest) -> Report:
    """Read while no commit is under way, so that an attempt that ends just now is counted once.

    A year of accounts takes a second to add up. Another thread does that, from the database as it was at that moment.
    """
    async with controller.report_slots:
        if controller.degraded is not None:
            begun = BegunReport(controller, request)
        else:
            begun = await controller.engine.decide(lambda _: Decision(answer=BegunReport(controller, request)))
        return await asyncio.to_thread(begun.finish)


class BegunReport:
    """A report as of one moment: what only memory knows, and the database of the last commit."""

    def __init__(self, controller: Controller, request: ReportRequest) -> None:
        now = controller.now()
        controller.usage.settle(jobs_with_gpus(controller.state), now)
        self._request = request
        self._present = [*controller.usage.foreign(), *running_accounts(controller.state, controller.usage, now)]
        self._last = day_of(now if request.until is None else request.until)
        self._reader = controller.store.snapshot()

    def finish(self) -> Report:
        """Add it all up. Not on the event loop."""
        try:
            return self._add_up(self._request.by)
        finally:
            self._reader.close()

    def _add_up(self, by: By) -> Report:
        scope = Scope(self._first_day(), self._last, self._request.owner, self._request.project)
        found = self._reader.account_sums(by, scope)
        for account in filter(scope.covers, self._present):
            key = key_of(account, by)
            found[key] = plus(found.get(key, NOTHING), sums_of(account))
        foreign = [sums for key, sums in found.items() if key.kind == "foreign"]
        jobs = {key: sums for key, sums in found.items() if key.kind == "job"}
        rows = {key: sums for key, sums in jobs.items() if by != "gpu" or key.name or sums.held_s}
        return Report(
            since=scope.first,
            until=scope.last,
            rows=_every_day(rows) if by == "day" else rows,
            foreign=added(foreign) if foreign else None,
            total=added(found.values()),
        )

    def _first_day(self) -> str:
        if self._request.since:
            return day_of(self._request.since)
        stored = self._reader.first_account_day()
        return min([stored or self._last, self._last, *(account.day for account in self._present)])


def key_of(account: Account, by: By) -> Key:
    node = account.node if by == "gpu" else ""
    return Key(account.kind, node, getattr(account, by))


def sums_of(account: Account) -> Sums:
    return Sums(
        account.held_s,
        account.pause_s,
        account.measured_s,
        account.used_s,
        account.energy_j,
        account.peak_bytes,
        account.jobs,
    )


def added(several: Iterable[Sums]) -> Sums:
    total = NOTHING
    for one in several:
        total = plus(total, one)
    return total


def plus(one: Sums, other: Sums) -> Sums:
    energies = [energy for energy in (one.energy_j, other.energy_j) if energy is not None]
    peaks = [peak for peak in (one.peak_bytes, other.peak_bytes) if peak is not None]
    return Sums(
        one.held_s + other.held_s,
        one.pause_s + other.pause_s,
        one.measured_s + other.measured_s,
        one.used_s + other.used_s,
        sum(energies) if energies else None,
        max(peaks, default=None),
        one.jobs + other.jobs,
    )


def _every_day(rows: dict[Key, Sums]) -> dict[Key, Sums]:
    """Days without use, too, between the first and the last one with some."""
    names = sorted(key.name for key in rows)
    if not names:
        return rows
    begin, end = (noon(name) for name in (names[0], names[-1]))
    days = [part.day for part in by_day(midnight(begin), end)]
    return {key: rows.get(key, NOTHING) for key in (Key("job", "", day) for day in days)}
