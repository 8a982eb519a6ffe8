"""Why a job waits, in words. The facts come from `core.explain`; nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from tarmac.controller.outside import told
from tarmac.controller.refusals import count, gigabytes, never
from tarmac.core.explain import (
    CpuSlotsTaken,
    HostBooked,
    HostShort,
    NeverFits,
    NodeAway,
    NoNode,
    TooFewGpus,
    explain,
)
from tarmac.core.policy.card import Drained, OutsideUse, Taken, TooLittleMemory, Unsuitable

if TYPE_CHECKING:
    from tarmac.core.explain import Reason
    from tarmac.core.model import GpuUuid, Job
    from tarmac.core.policy.card import CardReason
    from tarmac.core.state import State


def sentence(reason: Reason) -> str:
    """In one line, without the cards one by one."""
    match reason:
        case NoNode():
            return "no machine is in reach: the agent is not connected"
        case NodeAway(node=node):
            return f"{node} is out of reach"
        case TooFewGpus(asked=asked, free=free, total=total, cards=cards):
            return f"{count(asked, 'GPU')} asked, {free} of {total} free{_holders(cards)}"
        case CpuSlotsTaken(slots=slots):
            return f"all {slots} slots for jobs without GPUs are taken (max_cpu_jobs)"
        case HostShort(available_bytes=available, kept_bytes=kept):
            return f"{gigabytes(available)} of host memory available, {gigabytes(kept)} are kept (keep_host_memory)"
        case HostBooked(what="memory", asked=asked, free=free, total=total):
            return f"{gigabytes(asked)} of host memory asked, {gigabytes(free)} of {gigabytes(total)} not booked"
        case HostBooked(what=what, asked=asked, free=free, total=total):
            return f"{asked} {what} asked, {free} of {total} not booked"
        case NeverFits(lack=lack):
            return never(lack).message
        case _:
            assert_never(reason)


def _holders(cards: tuple[tuple[int | GpuUuid, CardReason], ...]) -> str:
    jobs = tuple(
        dict.fromkeys(job for _, card in cards if isinstance(card, Taken | TooLittleMemory) for job in card.jobs)
    )
    return f", held by {jobs_named(jobs)}" if jobs else ""


def _said(reason: CardReason, now: float) -> str:
    match reason:
        case Unsuitable(why=why):
            return why
        case Drained(reason=drained):
            return f"drained: {drained}"
        case Taken(jobs=jobs):
            return f"held by {jobs_named(jobs)}"
        case OutsideUse(outsiders=outsiders):
            return f"held by {told(outsiders, now)}"
        case TooLittleMemory(free_bytes=free, total_bytes=total, asked_bytes=asked):
            lacking = f"{gigabytes(free)} of {gigabytes(total)} free, {gigabytes(asked)} asked"
            others = f"; {gigabytes(reason.outside_bytes)} held by {told(reason.outsiders, now)}"
            return lacking + (others if reason.outsiders else "")
        case _:
            assert_never(reason)


def jobs_named(ids: tuple[int, ...], most: int = 8) -> str:
    shown = ", ".join(map(str, ids[:most])) + (", …" if len(ids) > most else "")
    return f"{'job' if len(ids) == 1 else 'jobs'} {shown}"


def why_waiting(state: State, job: Job, now: float) -> list[str]:
    """All there is to say, for one job."""
    reasons = explain(state, job)
    if not reasons:
        return []
    ahead = state.queue.ahead_of(job)
    place = "next in the queue" if ahead == 0 else f"{count(ahead, 'job')} ahead in the queue"
    cards = [line for reason in reasons if isinstance(reason, TooFewGpus) for line in card_lines(reason.cards, now)]
    return [place, *map(sentence, reasons), *cards]


def card_lines(cards: tuple[tuple[int | GpuUuid, CardReason], ...], now: float) -> list[str]:
    """One line for all cards with the same reason: sixty-four lines tell less than three."""
    grouped: dict[str, list[int | GpuUuid]] = {}
    for name, reason in cards:
        grouped.setdefault(_said(reason, now), []).append(name)
    return [f"{_named(names)}: {said}" for said, names in grouped.items()]


def _named(names: list[int | GpuUuid]) -> str:
    indices = spans([name for name in names if isinstance(name, int)])
    return ", ".join([f"GPU {indices}"] * bool(indices) + [name for name in names if isinstance(name, str)])


def spans(indices: list[int]) -> str:
    """0-3, 6"""
    found: list[list[int]] = []
    for index in sorted(indices):
        if found and index == found[-1][-1] + 1:
            found[-1].append(index)
        else:
            found.append([index])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in found)
