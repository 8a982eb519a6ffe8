"""Whether a job runs again after an attempt ended, when, and with what request. Pure rules; handlers apply them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.fit.gpu_fit import bookable_bytes, suits
from tarmac.core.model.status import Failed, Unknown

if TYPE_CHECKING:
    from tarmac.core.model.attempt import Ended
    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.names import Failure, RetryKind
    from tarmac.core.model.node import Node
    from tarmac.core.model.rules import Rules
    from tarmac.core.state import State

GROWTH = 1.25  # times what a job used before it ran out of memory

KIND_OF_FAILURE: dict[Failure, RetryKind | None] = {
    "exit": "exit",
    "signal": "signal",
    "oom-gpu": "oom",
    "oom-host": "oom",
    "timeout": "timeout",
    "killed": "signal",
    "disk-full": "exit",
    "no-cwd": "launch",
    "no-interpreter": "launch",
    "suspend": "exit",
    "reboot": "lost",
    "launch": "launch",
    "dependency": None,
}


def kind_of(ended: Ended) -> RetryKind | None:
    """What `--retry-on` calls this end; None for an end that is never retried, such as a kill by a person."""
    match ended:
        case Failed(reason=reason):
            return KIND_OF_FAILURE[reason]
        case Unknown(stop_grace_s=None):
            return "lost"
        case _:
            return None


def may_retry(job: Job, kind: RetryKind | None) -> bool:
    spec = job.spec
    if kind is None or job.retried >= spec.retries or not spec.can_run_again:
        return False
    if kind == "oom" and spec.on_oom is not None:
        return spec.on_oom != "fail"
    return kind in spec.retry_on


def wait_s(job: Job, rules: Rules) -> float:
    """How long the next automatic retry waits. Each wait is twice the one before, up to the longest.

    By default the first retry starts at once. A job with --retry-delay waits before the first one, too.
    """
    first_s = job.spec.retry_delay_s
    if first_s is None:
        delay_s = rules.retry_delay_s * _doubled(job.retried - 1) if job.retried else 0.0
        return min(delay_s, rules.retry_max_delay_s)
    return min(first_s * _doubled(job.retried), max(first_s, rules.retry_max_delay_s))


def _doubled(times: int) -> float:
    return 2.0 ** min(times, 60)


def grown(state: State, job: Job, ended: Ended, peak_bytes: int | None) -> Request:
    """What to ask for after an attempt ran out of memory; the same request if it cannot ask for more."""
    request = job.spec.request
    if not isinstance(ended, Failed):
        return request
    if ended.reason == "oom-host":
        return _grown_host(state, request)
    if request.gpu_memory_bytes is None:
        return replace(request, gpu_share=None)  # a whole GPU; a job that had one can only use less
    more = int(GROWTH * peak_bytes) if peak_bytes is not None else 0
    if more <= request.gpu_memory_bytes:
        more = int(GROWTH * request.gpu_memory_bytes)
    rooms = sorted(_rooms(state, request) or _booked_rooms(state, ended), reverse=True)
    most = rooms[: request.node_count][-1] if rooms else more
    return replace(request, gpu_memory_bytes=more if more <= most else None)


def _grown_host(state: State, request: Request) -> Request:
    """More of the host's memory, where the job reserves some; at most all that a node has which it can run on."""
    most = max(
        (node.memory_total_bytes for node in state.nodes.values() if _is_suitable(state, node, request)), default=0
    )
    more = min(int(GROWTH * request.memory_bytes), most)
    return replace(request, memory_bytes=max(request.memory_bytes, more))


def _is_suitable(state: State, node: Node, request: Request) -> bool:
    if node.is_watch_only or not request.allows(node.name):
        return False
    has_cpus = not node.cpus or request.cpus <= node.cpus
    return has_cpus and (not node.has_reported_gpus or len(_suitable_gpus(state, node, request)) >= request.gpus)


def _suitable_gpus(state: State, node: Node, request: Request) -> list[Gpu]:
    return [gpu for gpu in node.gpus.values() if suits(gpu, request, state.rules) is None]


def _rooms(state: State, request: Request) -> list[int]:
    """By node that can run the job: the memory that it could reserve on each of its GPUs."""
    whole = replace(request, gpu_memory_bytes=None)
    by_node = (
        [bookable_bytes(gpu, state.rules) for gpu in _suitable_gpus(state, node, whole)]
        for node in state.nodes.values()
        if request.allows(node.name) and not node.is_watch_only
    )
    return [sorted(rooms)[-request.gpus] for rooms in by_node if len(rooms) >= request.gpus]


def _booked_rooms(state: State, ended: Failed) -> list[int]:
    """The same for the GPUs that it had. After a restart, a node reports its attempts before its GPUs."""
    booked = () if ended.booking is None else ended.booking.gpus
    part = 1.0 - state.rules.keep_gpu_memory
    return [int(gpu.memory_bytes / gpu.part * part) for gpu in booked if gpu.memory_bytes and gpu.part]


def attempts_max(job: Job, *, is_waiting: bool) -> int:
    """The number of the last attempt if every one from now on fails: the 4 of `2/4`."""
    return job.attempt + is_waiting + max(0, job.spec.retries - job.retried)
