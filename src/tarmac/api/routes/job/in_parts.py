"""Requests about very many jobs: carried out part by part, so that other requests are answered in between.

With each part it is committed which jobs are done, under the key of the request. A repetition of an interrupted request
is about the same jobs, also if `last` or a filter matches others by now, and leaves out those that are done.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tarmac.api.routes.job.jobs import selected_own
from tarmac.controller.engine.decision import Decision
from tarmac.store.batch import KeptAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence

    from tarmac.api.deps import Context
    from tarmac.api.schemas.job.selection import Selection
    from tarmac.controller.controller import Controller
    from tarmac.core.events import Event
    from tarmac.core.model.job import Job
    from tarmac.core.state import State

JOBS_AT_ONCE = 5_000  # in one decision: about a tenth of a second


class Part(NamedTuple):
    """What is decided about a part of the jobs."""

    done: Sequence[int]  # a repetition of the request leaves them out
    events: Sequence[Event]


class Progress:
    """The jobs of a request, and those of them that are done."""

    def __init__(self, context: Context, numbers: list[int]) -> None:
        self.numbers = numbers
        self.done: list[int] = []
        self._context = context
        self._kept = 0  # rows: the selected jobs, then the done ones of each part

    @property
    def is_begun(self) -> bool:
        return self._kept > 0

    @property
    def rest(self) -> list[int]:
        done = set(self.done)
        return [number for number in self.numbers if number not in done] if done else self.numbers

    def add(self, done: Iterable[int]) -> KeptAnswer | None:
        """Returns what to commit together with it."""
        jobs = list(done)
        self.done += jobs
        return self._row(jobs)

    def _row(self, numbers: Sequence[int]) -> KeptAnswer | None:
        key, number = self._context.key, self._kept
        self._kept += 1
        if key is None:
            return None
        now = self._context.controller.engine.now()
        return KeptAnswer(owner=key.owner, key=key.of_part(number).text, at=now, answer=_packed(numbers))

    async def begin(self) -> None:
        """Keep which jobs are selected, if there are very many."""
        if self._context.key is not None and len(self.numbers) > JOBS_AT_ONCE:
            row = self._row(self.numbers)
            await self._context.controller.engine.decide(lambda _: Decision(answer=None, kept=row))

    def resume(self) -> None:
        """Read which parts were carried out before the request was repeated."""
        key, repeats = self._context.key, self._context.controller.repeats
        self._kept = 1
        while key is not None and (kept := repeats.kept(key.of_part(self._kept))) is not None:
            self.done += _unpacked(kept)
            self._kept += 1


async def select_once(context: Context, body: Selection) -> Progress:
    """The selected jobs, if the caller may act on all of them. A repetition is about the same jobs."""
    key = context.key
    kept = None if key is None else context.controller.repeats.kept(key.of_part(0))
    if kept is not None:
        progress = Progress(context, _unpacked(kept))
        progress.resume()
    else:
        progress = Progress(context, selected_own(context, body))
        await progress.begin()
    return progress


async def all_but_the_last_part(
    context: Context, progress: Progress, numbers: Sequence[int], act: Callable[[State, Sequence[int]], Part]
) -> Sequence[int]:
    """Decide on all parts but the last, which is returned: it is decided with the answer to the request."""

    def plan(state: State, jobs: Sequence[int]) -> Decision[None]:
        part = act(state, jobs)
        return Decision(answer=None, events=part.events, kept=progress.add(part.done))

    async def decide(jobs: Sequence[int]) -> None:
        await context.controller.engine.decide(lambda state: plan(state, jobs))

    return await each_but_the_last(numbers, decide)


async def each_but_the_last(
    numbers: Sequence[int], carry_out: Callable[[Sequence[int]], Awaitable[object]]
) -> Sequence[int]:
    """Carry out all parts but the last, which is returned."""
    *parts, last = [*parts_of(numbers)] or [numbers]
    for part in parts:
        await carry_out(part)
    return last


def parts_of(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[begin : begin + JOBS_AT_ONCE] for begin in range(0, len(numbers), JOBS_AT_ONCE))


async def read_in_parts(controller: Controller, numbers: Sequence[int]) -> AsyncIterator[list[Job]]:
    """The jobs as they are now. Other requests are answered in between."""
    for part in parts_of(numbers):
        yield controller.jobs(list(part))
        await asyncio.sleep(0)


class _Run(NamedTuple):
    """Consecutive ids."""

    first: int
    last: int


def _packed(numbers: Sequence[int]) -> bytes:
    runs: list[_Run] = []
    for number in numbers:
        if runs and number == runs[-1].last + 1:
            runs[-1] = _Run(runs[-1].first, number)
        else:
            runs.append(_Run(number, number))
    return msgspec.json.encode(runs)


def _unpacked(kept: bytes) -> list[int]:
    return [number for run in msgspec.json.decode(kept, type=list[_Run]) for number in range(run.first, run.last + 1)]
