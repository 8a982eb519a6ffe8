"""What an attempt adds to the accounts: the GPU time it held, from its booking, and what it used, from readings.

Time is stored when the booking is released. An attempt that still runs is counted up to now by the same function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.controller.accounts.days import by_day, day_of
from tarmac.controller.accounts.memory import peak_to_remember
from tarmac.controller.gpus.usage import CLOSED, DayKey, Integral
from tarmac.core.changes import Release
from tarmac.core.model.status import holds_booking, paused_s_of
from tarmac.store.accounts import Account, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.controller.gpus.usage import AttemptBook, UsageBook
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Booking
    from tarmac.core.state import State
    from tarmac.store.batch import Batch
    from tarmac.store.reader import Reader


def add_accounts(batch: Batch, usage: UsageBook, reader: Reader, state: State) -> None:
    """What the attempts took that are over, for the commit of their release. No other commit may be under way."""
    ends = {(attempt.job, attempt.number): attempt for attempt in batch.changes.attempts}
    for release in batch.changes.releases:
        book = usage.book(release.job, release.attempt)
        batch.accounts += accounts_of(release, book)
        if release.booking.gpus:
            used = usage_of(release, book)
            batch.usage.append(used)
            past = reader.usage(release.job) if release.attempt > 1 else None
            usage.being_written[release.job] = used if past is None else both(past, used)
            batch.usage_of_attempts[release.job, release.attempt] = used
            attempt = ends.get((release.job, release.attempt))
            if attempt is not None:
                peak = peak_to_remember(batch.changes.changed[release.job], attempt, used, state)
                batch.peaks += [] if peak is None else [peak]


def accounts_of(release: Release, book: AttemptBook) -> list[Account]:
    """A row for each day and GPU, and one that counts the job."""
    owner, project, node = release.owner, release.project or "", release.booking.node
    held, nodes = _held(release), _nodes(release.booking)
    rows = [
        Account(
            day=key.day, owner=owner, project=project, node=nodes.get(key.gpu, node), gpu=key.gpu,
            held_s=held.get(key, 0.0), pause_s=held.get(key, 0.0) * _paused_part(release),
            measured_s=work.measured_s, used_s=work.used_s, energy_j=work.energy, peak_bytes=work.peak_bytes,
        )
        for key in dict.fromkeys((*held, *(key for key in book.work if key.day != CLOSED)))
        for work in (book.work.get(key) or Integral(),)
    ]  # fmt: skip
    if release.attempt == 1:
        rows.append(Account(day=day_of(release.until), owner=owner, project=project, node=node, jobs=1))
    return rows


def usage_of(release: Release, book: AttemptBook) -> Usage:
    """What the attempt adds to the use of its job."""
    held_s = sum(_held(release).values())
    return replace(book.total(release.job), held_s=held_s, pause_s=held_s * _paused_part(release))


def both(past: Usage, current: Usage) -> Usage:
    """The use of several attempts of a job."""
    peaks = [one.peak_gpu_memory_bytes for one in (past, current) if one.peak_gpu_memory_bytes is not None]
    energies = [one.energy_j for one in (past, current) if one.energy_j is not None]
    measured_s, used_s = past.measured_s + current.measured_s, past.used_s + current.used_s
    return Usage(
        current.job,
        max(peaks, default=None),
        round(100 * used_s / measured_s, 1) if measured_s else past.utilization,
        round(sum(energies), 1) if energies else None,
        held_s=past.held_s + current.held_s,
        pause_s=past.pause_s + current.pause_s,
        measured_s=measured_s,
        used_s=used_s,
    )


def running_accounts(state: State, usage: UsageBook, now: float) -> Iterator[Account]:
    """What the attempts that hold a booking would add if they ended now."""
    for job in list(state.ledger.running):
        if (release := release_now(state, state.jobs[job], now)) is not None:
            yield from accounts_of(release, usage.book(job, release.attempt))


def accounts_of_past_days(state: State, usage: UsageBook, today: str) -> list[Account]:
    """What running attempts used on days that are over, to store it. What they held follows when they end."""
    rows = []
    for job, use in state.ledger.running.items():
        booking, attempt = holds_booking(state.jobs[job].status), state.jobs[job].attempt
        book = usage.book(job, attempt)
        if booking is None:
            continue
        nodes = _nodes(booking)
        for key in book.days_over(today):
            work = book.work[key]
            rows.append(
                Account(
                    day=key.day, owner=use.owner, project=use.project or "", gpu=key.gpu,
                    node=nodes.get(key.gpu, booking.node),
                    measured_s=work.measured_s, used_s=work.used_s, energy_j=work.energy, peak_bytes=work.peak_bytes,
                )
            )  # fmt: skip
    return rows


def release_now(state: State, job: Job, now: float) -> Release | None:
    """As if the attempt ended now; None if it holds nothing."""
    booking, use = holds_booking(job.status), state.ledger.running.get(job.id)
    if booking is None or use is None:
        return None
    paused_s = paused_s_of(job.status, now)
    return Release(job.id, job.attempt, use.owner, use.project, booking, use.since, now, paused_s)


def _held(release: Release) -> dict[DayKey, float]:
    """GPU-seconds by day and GPU."""
    days = by_day(release.since, release.until)
    return {DayKey(day, gpu.uuid): seconds * gpu.part for gpu in release.booking.all_gpus for day, seconds in days}


def _nodes(booking: Booking) -> dict[str, NodeName]:
    """The node of each GPU."""
    return {gpu.uuid: name for name, gpu in booking.gpus_by_node()}


def _paused_part(release: Release) -> float:
    seconds = release.until - release.since
    return min(1.0, release.paused_s / seconds) if seconds > 0 else 0.0
