"""How busy the GPUs of all nodes were, by day and hour: stored hours, and those that are not stored yet."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from tarmac.controller.accounts.days import by_day, day_of, midnight
from tarmac.controller.engine.decision import Decision
from tarmac.controller.gpus.usage import jobs_with_gpus
from tarmac.records import dataclass
from tarmac.store.node_hours import HourSums

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller

DAY_S = 86400.0
HOURS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOfHours:
    day: str
    hours: list[HourSums | None]  # by the clock on the wall; None: nothing is known


async def hours_at_rest(controller: Controller, since: float, until: float | None) -> list[DayOfHours]:
    """Whole days, as a report counts them. `since` may be 0: from the first hour that is known.

    Read while no commit is under way, so that an hour that is being stored is counted once.
    """
    async with controller.report_slots:
        if controller.degraded is not None:
            begun = BegunHours(controller, since, until)
        else:
            begun = await controller.engine.decide(lambda _: Decision(answer=BegunHours(controller, since, until)))
        return await asyncio.to_thread(begun.finish)


class BegunHours:
    """The hours as of one moment: what only memory knows, and the database of the last commit."""

    def __init__(self, controller: Controller, since: float, until: float | None) -> None:
        now = controller.now()
        controller.usage.settle(jobs_with_gpus(controller.state), now)
        self._present = controller.usage.hours.rows()
        self._since, self._until = since, now if until is None else until
        self._reader = controller.store.snapshot()

    def finish(self) -> list[DayOfHours]:
        """Add it all up. Not on the event loop."""
        try:
            return self._add_up()
        finally:
            self._reader.close()

    def _add_up(self) -> list[DayOfHours]:
        begin = midnight(self._since or self._first())
        end = midnight(self._until) + DAY_S  # clocks may change; `day_of` decides
        found = self._reader.hour_sums(begin, end + DAY_S)
        for row in self._present:
            if begin <= row.at < end + DAY_S:
                found[row.at] = _plus(
                    found.get(row.at), HourSums(row.present_s, row.held_s, row.measured_s, row.used_s)
                )
        days: dict[str, list[HourSums | None]] = {
            part.day: [None] * HOURS for part in by_day(begin, midnight(self._until) + 1)
        }
        for at, sums in found.items():
            if (hours := days.get(day_of(at))) is not None:
                hour = time.localtime(at).tm_hour
                hours[hour] = _plus(hours[hour], sums)
        return [DayOfHours(day=day, hours=hours) for day, hours in days.items()]

    def _first(self) -> float:
        stored = self._reader.first_hour()
        return min([self._until if stored is None else stored, self._until, *(row.at for row in self._present)])


def _plus(one: HourSums | None, other: HourSums) -> HourSums:
    """An hour comes twice when clocks are set back."""
    if one is None:
        return other
    return HourSums(*(a + b for a, b in zip(one, other, strict=True)))
