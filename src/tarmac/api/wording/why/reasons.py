"""Why a job waits, in words. The facts come from `core.explain`; nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.foreign_processes import foreign_process_words
from tarmac.api.wording.notes import unsuitable_words, words
from tarmac.api.wording.phrases import in_own_words
from tarmac.api.wording.refusals import infeasible, limit_reached
from tarmac.api.wording.times import at_clock
from tarmac.core.explain.reasons import (
    Behind,
    CpuSlotsTaken,
    HeldBy,
    HostBooked,
    HostShort,
    IsDraft,
    KeptFor,
    NeverFits,
    NoNode,
    NotBefore,
    OwnerSuspended,
    PathMissing,
    ReservedFor,
    RetryAt,
    TooFewGpus,
    TooFewNodesFree,
    WaitsFor,
)
from tarmac.core.fit.closure import NodeAway, NodeDrained, NodeNotAllowed, NodeWatchOnly
from tarmac.core.fit.gpu_fit import Drained, OutsideUse, Taken, TooLittleMemory, Unsuitable
from tarmac.core.limits import LimitReached
from tarmac.core.policy.eligibility import ArrayFull, Paused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.core.explain.reasons import Reason
    from tarmac.core.fit.closure import Closure
    from tarmac.core.fit.gpu_fit import GpuReason
    from tarmac.core.model.ids import GpuUuid, NodeName


def sentence(reason: Reason, now: float, nodes: int = 1) -> str:
    """The reason in one line, without its GPUs. With several nodes, it names its own."""
    text = _sentence(reason, now)
    node = None if isinstance(reason, NodeAway | NodeDrained) else getattr(reason, "node", None)
    return text if nodes == 1 or node is None else say("waiting.on_node", node=node, text=text)


def _sentence(reason: Reason, now: float) -> str:
    match reason:
        case PathMissing(path=path):
            return say("waiting.path_missing", path=path)
        case NoNode() | NodeAway() | NodeDrained():
            return _of_closed_nodes(reason)
        case TooFewGpus() | TooFewNodesFree() | CpuSlotsTaken() | HostShort() | HostBooked() | NeverFits():
            return _of_machines(reason)
        case HeldBy() | IsDraft() | WaitsFor() | NotBefore() | RetryAt():
            return _of_the_job(reason, now)
        case OwnerSuspended():
            return say("waiting.suspended", owner=reason.owner, reason=words(reason.reason))
        case Paused() | LimitReached() | ArrayFull() | KeptFor() | ReservedFor() | Behind():
            return _of_the_queue(reason, now)
        case _:
            assert_never(reason)


def sentences(reasons: Sequence[Reason], now: float, nodes: int = 1) -> list[str]:
    """One line per reason, but a single line for all jobs that are waited for in the same way."""
    waits: dict[str, list[int]] = {}
    for reason in reasons:
        if isinstance(reason, WaitsFor):
            waits.setdefault(reason.on, []).append(reason.job)
    lines: list[str] = []
    for reason in reasons:
        if not isinstance(reason, WaitsFor):
            lines.append(sentence(reason, now, nodes))
        elif jobs := waits.pop(reason.on, None):
            lines.append(say("waiting.after", jobs=jobs, on=reason.on))
    return lines


def _of_the_job(reason: HeldBy | IsDraft | WaitsFor | NotBefore | RetryAt, now: float) -> str:
    match reason:
        case HeldBy(by=by, since=since):
            return say("waiting.held", by=by, since=at_clock(since, now))
        case IsDraft():
            return say("waiting.draft")
        case WaitsFor(job=job, on=on):
            return say("waiting.after", jobs=[job], on=on)
        case NotBefore(at=at):
            return say("waiting.not_before", at=at_clock(at, now))
        case RetryAt():
            return _of_the_retry(reason, now)
        case _:
            assert_never(reason)


def _of_the_retry(reason: RetryAt, now: float) -> str:
    return say(
        "waiting.retry",
        job=reason.job,
        attempt=reason.attempt,
        seconds=reason.at - now,
        at=at_clock(reason.at, now),
        reason=words(reason.reason),
    )


def _of_the_queue(reason: Paused | LimitReached | ArrayFull | KeptFor | ReservedFor | Behind, now: float) -> str:
    match reason:
        case Paused(by=by, reason=why, since=since):
            paused_at = None if since is None else at_clock(since, now)
            return say("waiting.paused", by=by or "Tarmac", since=paused_at, reason=words(why))
        case LimitReached():
            return limit_reached(reason).message
        case ArrayFull(group=group, most=most):
            return say("waiting.array_full", group=group, most=most)
        case KeptFor():
            return _held_back(reason, now)
        case ReservedFor(reservation=number, owner=owner, begins_at=begins_at, ends_at=ends_at):
            begin, end = at_clock(begins_at, now), at_clock(ends_at, now)
            return say("waiting.reservation", reservation=number, owner=owner, begin=begin, end=end)
        case Behind(job=job):
            return say("waiting.behind", job=job)
        case _:
            assert_never(reason)


def _held_back(kept: KeptFor, now: float) -> str:
    if kept.at is not None:
        return say("waiting.held_back", job=kept.job, gpus=kept.gpus, at=at_clock(kept.at, now))
    if kept.is_overdue:
        return say("waiting.held_back_overdue", job=kept.job, gpus=kept.gpus)
    return say("waiting.held_back_undated", job=kept.job, gpus=kept.gpus)


def _of_closed_nodes(reason: NoNode | NodeAway | NodeDrained) -> str:
    match reason:
        case NoNode():
            return say("waiting.no_node")
        case NodeAway(node=node):
            return say("waiting.node_unreachable", node=node)
        case NodeDrained(node=node, reason=why, by=by):
            return say("waiting.node_drained", node=node, reason=words(why), by=by or "Tarmac")
        case _:
            assert_never(reason)


def _of_machines(reason: TooFewGpus | TooFewNodesFree | CpuSlotsTaken | HostShort | HostBooked | NeverFits) -> str:
    match reason:
        case TooFewGpus():
            return _of_gpus(reason)
        case TooFewNodesFree(asked=asked, free=free, gpus=gpus):
            return say("waiting.too_few_nodes", asked=asked, free=free, gpus=gpus)
        case CpuSlotsTaken(slots=slots):
            return say("waiting.cpu_slots", slots=slots)
        case HostShort(available_bytes=available, kept_bytes=least):
            return say("waiting.host_short", available=available, least=least)
        case HostBooked(what="memory", asked=asked, free=free, total=total):
            return say("waiting.host_memory", asked=asked, free=free, total=total)
        case HostBooked(asked=asked, free=free, total=total):
            return say("waiting.cpus", asked=asked, free=free, total=total)
        case NeverFits(lack=lack, nodes=nodes, only=only):
            return infeasible(lack, nodes, only).message
        case _:
            assert_never(reason)


def _of_gpus(reason: TooFewGpus) -> str:
    asked, free, total = reason.asked, reason.free, reason.total
    if jobs := holders_of(reason.gpus):
        return say("waiting.too_few_gpus_held", asked=asked, free=free, total=total, jobs=jobs)
    return say("waiting.too_few_gpus", asked=asked, free=free, total=total)


def holders_of(gpus: tuple[tuple[int | GpuUuid, GpuReason], ...]) -> tuple[int, ...]:
    """The jobs that hold these GPUs, each once."""
    holders = (gpu.jobs for _, gpu in gpus if isinstance(gpu, Taken | TooLittleMemory))
    return tuple(dict.fromkeys(job for jobs in holders for job in jobs))


def kept_words(kept: KeptFor | ReservedFor, now: float) -> str:
    """Why one GPU is not available although it is free."""
    if isinstance(kept, ReservedFor):
        begin, end = at_clock(kept.begins_at, now), at_clock(kept.ends_at, now)
        return say("gpu.reserved", owner=kept.owner, begin=begin, end=end)
    return say("gpu.held_back", job=kept.job)


def closed_words(closed: Closure) -> str:
    """Why no GPU of a node can be used."""
    match closed:
        case NodeNotAllowed():
            return say("gpu.node_not_allowed")
        case NodeWatchOnly():
            return say("gpu.node_watch_only")
        case NodeDrained():
            return say("gpu.node_drained")
        case NodeAway(node=node):
            return say("waiting.node_unreachable", node=node)
        case _:
            assert_never(closed)


def gpu_words(reason: GpuReason, now: float) -> str:
    """Why one GPU cannot be used."""
    match reason:
        case Unsuitable():
            return unsuitable_words(reason)
        case Drained(reason=None, by=by):
            return say("gpu.drained_by", by=by)
        case Drained(reason=drained, by=None):
            return say("gpu.drained", reason=in_own_words(drained))
        case Drained(reason=drained):
            return say("gpu.drained", reason=drained)
        case Taken(jobs=jobs):
            return say("gpu.held_by_jobs", jobs=jobs)
        case OutsideUse(foreign_processes=foreign):
            return say("gpu.held", processes=foreign_process_words(foreign, now))
        case TooLittleMemory(free_bytes=free, total_bytes=total, asked_bytes=asked, foreign_processes=()):
            return say("gpu.too_little_memory", free=free, total=total, asked=asked)
        case TooLittleMemory(free_bytes=free, total_bytes=total, asked_bytes=asked, outside_bytes=outside):
            processes = foreign_process_words(reason.foreign_processes, now)
            return say(
                "gpu.too_little_memory_foreign",
                free=free, total=total, asked=asked, foreign=outside, processes=processes,
            )  # fmt: skip
        case _:
            assert_never(reason)


def ahead_words(ahead: int) -> str:
    return say("why.next") if ahead == 0 else say("why.ahead", ahead=ahead)


def gpu_lines(lacking: TooFewGpus, now: float, nodes: int = 1) -> list[str]:
    """One line for all GPUs with the same reason, so that 64 GPUs fit on a screen."""
    return grouped_lines([(name, gpu_words(reason, now)) for name, reason in lacking.gpus], lacking.node, nodes)


def grouped_lines(gpus: list[tuple[int | GpuUuid, str]], node: NodeName, nodes: int) -> list[str]:
    """One line for all GPUs of a node with the same text. The node is named if there are several."""
    prefix = f"{node} " if nodes > 1 else ""
    grouped: dict[str, list[int | GpuUuid]] = {}
    for name, text in gpus:
        grouped.setdefault(text, []).append(name)
    return [prefix + say("gpu.line", gpus=_named(names), text=text) for text, names in grouped.items()]


def _named(names: list[int | GpuUuid]) -> str:
    indices = [name for name in names if isinstance(name, int)]
    listed = [say("gpu.list", indices=indices)] if indices else []
    return say("gpu.names", names=[*listed, *(name for name in names if isinstance(name, str))])
