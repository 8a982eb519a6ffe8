"""A job of a trace: when it is submitted, what it requests, and its duration, which only a simulation knows."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from tarmac.core.model.job import DEFAULT_PRIORITY, JobSpec, Request
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from tarmac.core.model.names import Tier

Ending: TypeAlias = Literal["succeeded", "failed", "cancelled"]


class OptionalFields(TypedDict, total=False):
    """The optional fields of TraceJob."""

    limit_s: float | None
    name: str | None
    command: tuple[str, ...] | None
    project: str | None
    tier: Tier
    priority: int
    ending: Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceJob:
    submit_s: float
    owner: str
    request: Request
    duration_s: float  # how long it runs unless it is stopped
    limit_s: float | None = None  # when it is stopped; the scheduler knows this
    name: str | None = None  # runtimes are learned per owner and name, or command
    command: tuple[str, ...] | None = None
    project: str | None = None
    tier: Tier = "normal"
    priority: int = DEFAULT_PRIORITY
    ending: Ending = "succeeded"  # unless its limit stops it

    @property
    def run_s(self) -> float:
        return self.duration_s if self.limit_s is None else min(self.duration_s, self.limit_s)

    @property
    def is_cut_short(self) -> bool:
        return self.limit_s is not None and self.duration_s > self.limit_s

    @property
    def weight(self) -> int:
        """GPUs, for figures by GPU time; a job without GPUs counts as one."""
        return max(1, self.request.gpus * self.request.node_count)


# Equal requests are one object: the core looks them up many times, and finds the same one without comparing its fields.
_shared_request = lru_cache(maxsize=10_000)(Request)


def trace_job(
    *,
    submit_s: float,
    owner: str,
    gpus: int,
    duration_s: float,
    gpu_memory_bytes: int | None = None,
    gpu_share: float | None = None,
    gpu_models: Iterable[str] = (),
    min_gpu_memory_bytes: int = 0,
    cpus: int = 0,
    memory_bytes: int = 0,
    node_count: int = 1,
    **more: Unpack[OptionalFields],
) -> TraceJob:
    """Build a TraceJob from a row of a file or a past job."""
    request = _shared_request(
        gpus=gpus,
        gpu_memory_bytes=gpu_memory_bytes,
        gpu_share=gpu_share,
        gpu_models=tuple(model.lower() for model in gpu_models),
        min_gpu_memory_bytes=min_gpu_memory_bytes,
        cpus=cpus,
        memory_bytes=memory_bytes,
        node_count=node_count,
    )
    return TraceJob(submit_s=submit_s, owner=owner, request=request, duration_s=duration_s, **more)


def spec_of(job: TraceJob, number: int) -> JobSpec:
    """A job without name and command gets a unique command, so that no other job is taken for another run of it."""
    return JobSpec(
        owner=job.owner,
        command=job.command or ("trace", job.name or str(number)),
        shell=None,
        cwd="/",
        umask=0o022,
        environment="",
        request=job.request,
        name=job.name,
        project=job.project,
        priority=job.priority,
        tier=job.tier,
        time_limit_s=job.limit_s,
    )
