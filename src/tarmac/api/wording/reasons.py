"""Why a job waits, in words. The facts come from `core.explain`; nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from tarmac.api.wording.formats import counted as count
from tarmac.api.wording.formats import size as gigabytes
from tarmac.api.wording.refusals import infeasible, limit_reached
from tarmac.api.wording.times import at_clock
from tarmac.controller.gpus.foreign_processes import told
from tarmac.core.explain import (
    Behind,
    CpuSlotsTaken,
    HeldBy,
    HostBooked,
    HostShort,
    IsDraft,
    KeptFor,
    NeverFits,
    NodeAway,
    NoNode,
    NotBefore,
    ReservedFor,
    TooFewGpus,
    WaitsFor,
)
from tarmac.core.fit.gpu_fit import Drained, OutsideUse, Taken, TooLittleMemory, Unsuitable
from tarmac.core.limits import LimitReached
from tarmac.core.policy.eligibility import ArrayFull, Paused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.core.explain import Reason
    from tarmac.core.fit.gpu_fit import GpuReason
    from tarmac.core.model.ids import GpuUuid


def sentence(reason: Reason, now: float) -> str:
    """In one line, without the GPUs one by one."""
    match reason:
        case NoNode() | NodeAway() | TooFewGpus() | CpuSlotsTaken() | HostShort() | HostBooked() | NeverFits():
            return _of_machines(reason)
        case HeldBy() | IsDraft() | WaitsFor() | NotBefore():
            return _of_the_job(reason, now)
        case Paused() | LimitReached() | ArrayFull() | KeptFor() | ReservedFor() | Behind():
            return _of_the_queue(reason, now)
        case _:
            assert_never(reason)


def sentences(reasons: Sequence[Reason], now: float) -> list[str]:
    """A line for each, but one for all the jobs that it waits for in the same way."""
    waits: dict[str, list[int]] = {}
    for reason in reasons:
        if isinstance(reason, WaitsFor):
            waits.setdefault(reason.on, []).append(reason.job)
    lines: list[str] = []
    for reason in reasons:
        if not isinstance(reason, WaitsFor):
            lines.append(sentence(reason, now))
        elif jobs := waits.pop(reason.on, None):
            lines.append(f"waits for {_jobs(jobs)} to {_OUTCOMES[reason.on]}")
    return lines


def _jobs(ids: list[int]) -> str:
    return f"{'job' if len(ids) == 1 else 'jobs'} {spans(ids)}"


def kept_words(kept: KeptFor | ReservedFor, now: float) -> str:
    """Of one GPU."""
    if isinstance(kept, ReservedFor):
        return f"reserved for {kept.owner} from {at_clock(kept.begins_at, now)} to {at_clock(kept.ends_at, now)}"
    return f"kept back for job {kept.job} in front"


def _of_the_job(reason: HeldBy | IsDraft | WaitsFor | NotBefore, now: float) -> str:
    match reason:
        case HeldBy(by=by, since=since):
            return f"held by {by} since {at_clock(since, now)}; `tarmac release` lets it go"
        case IsDraft():
            return "a draft; `tarmac release` puts it into the queue"
        case WaitsFor(job=job, on=on):
            return f"waits for job {job} to {_OUTCOMES[on]}"
        case NotBefore(at=at):
            return f"not before {at_clock(at, now)}"
        case _:
            assert_never(reason)


def _of_the_queue(reason: Paused | LimitReached | ArrayFull | KeptFor | ReservedFor | Behind, now: float) -> str:
    match reason:
        case Paused(by=by, reason=why, since=since):
            moment = "" if since is None else f" since {at_clock(since, now)}"
            return f"the queue is paused{moment} by {by or 'Tarmac itself'}" + (f": {why}" if why else "")
        case LimitReached():
            return limit_reached(reason).message
        case ArrayFull(group=group, most=most):
            return f"{most} of array {group} run already, and no more may at once (max_running)"
        case KeptFor(job=job, gpus=gpus, at=at):
            when = "as it has waited for long" if at is None else f"which is to start at ~{at_clock(at, now)}"
            return f"{count(gpus, 'GPU')} kept back for job {job} in front, {when}"
        case ReservedFor(reservation=number, owner=owner, begins_at=begins_at, ends_at=ends_at):
            span = f"from {at_clock(begins_at, now)} to {at_clock(ends_at, now)}"
            return f"it would run into reservation {number} of {owner}, {span}"
        case Behind(job=job):
            return f"job {job} goes first"
        case _:
            assert_never(reason)


_OUTCOMES = {"ok": "end well", "fail": "fail", "any": "end"}


def _of_machines(
    reason: NoNode | NodeAway | TooFewGpus | CpuSlotsTaken | HostShort | HostBooked | NeverFits,
) -> str:
    match reason:
        case NoNode():
            return "no machine is in reach: the agent is not connected"
        case NodeAway(node=node):
            return f"{node} is out of reach"
        case TooFewGpus(asked=asked, free=free, total=total, gpus=gpus):
            return f"{count(asked, 'GPU')} asked, {free} of {total} free{_holders(gpus)}"
        case CpuSlotsTaken(slots=slots):
            return f"all {slots} slots for jobs without GPUs are taken (max_cpu_jobs)"
        case HostShort(available_bytes=available, kept_bytes=kept):
            return f"{gigabytes(available)} of host memory available, {gigabytes(kept)} are kept (keep_host_memory)"
        case HostBooked(what="memory", asked=asked, free=free, total=total):
            return f"{gigabytes(asked)} of host memory asked, {gigabytes(free)} of {gigabytes(total)} not booked"
        case HostBooked(what=what, asked=asked, free=free, total=total):
            return f"{asked} {what} asked, {free} of {total} not booked"
        case NeverFits(lack=lack):
            return infeasible(lack).message
        case _:
            assert_never(reason)


def _holders(gpus: tuple[tuple[int | GpuUuid, GpuReason], ...]) -> str:
    jobs = tuple(dict.fromkeys(job for _, gpu in gpus if isinstance(gpu, Taken | TooLittleMemory) for job in gpu.jobs))
    return f", held by {jobs_named(jobs)}" if jobs else ""


def said_of_gpu(reason: GpuReason, now: float) -> str:
    match reason:
        case Unsuitable(why=why):
            return why
        case Drained(reason=drained):
            return f"drained: {drained}"
        case Taken(jobs=jobs):
            return f"held by {jobs_named(jobs)}"
        case OutsideUse(foreign_processes=foreign_processes):
            return f"held by {told(foreign_processes, now)}"
        case TooLittleMemory(free_bytes=free, total_bytes=total, asked_bytes=asked):
            lacking = f"{gigabytes(free)} of {gigabytes(total)} free, {gigabytes(asked)} asked"
            others = f"; {gigabytes(reason.outside_bytes)} held by {told(reason.foreign_processes, now)}"
            return lacking + (others if reason.foreign_processes else "")
        case _:
            assert_never(reason)


def jobs_named(ids: tuple[int, ...], most: int = 8) -> str:
    shown = ", ".join(map(str, ids[:most])) + (", …" if len(ids) > most else "")
    return f"{'job' if len(ids) == 1 else 'jobs'} {shown}"


def ahead_words(ahead: int) -> str:
    return "next in the queue" if ahead == 0 else f"{count(ahead, 'job')} ahead in the queue"


def gpu_lines(gpus: tuple[tuple[int | GpuUuid, GpuReason], ...], now: float) -> list[str]:
    """One line for all GPUs with the same reason: sixty-four lines tell less than three."""
    return grouped_lines([(name, said_of_gpu(reason, now)) for name, reason in gpus])


def grouped_lines(gpus: list[tuple[int | GpuUuid, str]]) -> list[str]:
    grouped: dict[str, list[int | GpuUuid]] = {}
    for name, said in gpus:
        grouped.setdefault(said, []).append(name)
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
