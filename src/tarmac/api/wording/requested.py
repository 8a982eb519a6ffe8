"""What a job requested: as fields, under the names of a submit, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.api.wording.catalogue import say
from tarmac.api.wording.times import at_clock

if TYPE_CHECKING:
    from tarmac.core.model.job import JobSpec, Request


def requested_fields(spec: JobSpec) -> dict[str, Any]:
    """Everything that differs from the default."""
    given = {name: value for name, value in msgspec.to_builtins(spec.request).items() if value not in (None, (), [], 0)}
    more = {"priority": spec.priority, "tier": spec.tier, "time_limit_s": spec.time_limit_s}
    return {"gpus": spec.request.gpus, **given, **{name: value for name, value in more.items() if value is not None}}


def requested_words(spec: JobSpec, now: float) -> list[str]:
    words = [*_gpus(spec.request), *_host(spec.request), _time_limit(spec.time_limit_s)]
    if spec.begin_at is not None:
        words.append(say("requested.not_before", at=at_clock(spec.begin_at, now)))
    words.append(say("requested.priority", priority=spec.priority))
    return words if spec.tier == "normal" else [*words, spec.tier]


def _gpus(request: Request) -> list[str]:
    words = [say("requested.gpus", gpus=request.gpus) if request.gpus else say("requested.no_gpu")]
    if request.gpu_memory_bytes is not None:
        words.append(say("requested.gpu_memory", size=request.gpu_memory_bytes))
    if request.gpu_share is not None:
        words.append(say("requested.gpu_share", share=request.gpu_share))
    if request.gpu_models:
        words.append(say("requested.models", models=request.gpu_models))
    if request.min_gpu_memory_bytes:
        words.append(say("requested.min_gpu_memory", size=request.min_gpu_memory_bytes))
    if request.gpus_on:
        words.append(say("requested.pinned", gpus=request.gpus_on))
    if request.exclude_gpus:
        words.append(say("requested.excluded", gpus=request.exclude_gpus))
    return words


def _host(request: Request) -> list[str]:
    memory = [say("requested.host_memory", size=request.memory_bytes)] if request.memory_bytes else []
    return [*memory, *([say("requested.cpus", cpus=request.cpus)] if request.cpus else [])]


def _time_limit(seconds: float | None) -> str:
    return say("requested.no_time_limit") if seconds is None else say("requested.time_limit", seconds=seconds)
