"""What a job requested: as fields, under the names of a submit, and in words. Made from the table of job options."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from tarmac.api.schemas.job.why import Requested
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.times import at_clock, iso
from tarmac.controller.submit.gpu_names import current_names
from tarmac.core.model.job import JobSpec, Request
from tarmac.shared.job_options import JOB_OPTIONS, SPEC

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tarmac.core.model.node import Node

    Wording: TypeAlias = Callable[[Any, float], str]

WORDINGS: dict[str, Wording] = {
    "gpus": lambda count, _: say("requested.gpus", gpus=count) if count else say("requested.no_gpu"),
    "node_count": lambda count, _: say("requested.nodes", nodes=count),
    "gpu_memory_bytes": lambda size, _: say("requested.gpu_memory", size=size),
    "gpu_share": lambda share, _: say("requested.gpu_share", share=share),
    "gpu_models": lambda models, _: say("requested.models", models=models),
    "min_gpu_memory_bytes": lambda size, _: say("requested.min_gpu_memory", size=size),
    "gpus_on": lambda gpus, _: say("requested.pinned", gpus=gpus),
    "exclude_gpus": lambda gpus, _: say("requested.excluded", gpus=gpus),
    "idle_below": lambda percent, _: say("requested.idle_below", percent=percent),
    "only_nodes": lambda nodes, _: say("requested.only_nodes", nodes=nodes),
    "exclude_nodes": lambda nodes, _: say("requested.exclude_nodes", nodes=nodes),
    "prefer_nodes": lambda nodes, _: say("requested.prefer_nodes", nodes=nodes),
    "memory_bytes": lambda size, _: say("requested.host_memory", size=size),
    "cpus": lambda cpus, _: say("requested.cpus", cpus=cpus),
    "priority": lambda priority, _: say("requested.priority", priority=priority),
    "time_limit_s": lambda seconds, _: (
        say("requested.no_time_limit") if seconds is None else say("requested.time_limit", seconds=seconds)
    ),
    "begin_at": lambda at, now: say("requested.not_before", at=at_clock(at, now)),
    "tier": lambda tier, _: say("requested.tier", tier=tier),
    "nice": lambda nice, _: say("requested.nice", nice=nice),
}
# What the job asks of a node comes first.
OPTIONS = sorted((one for one in JOB_OPTIONS if one.wire in WORDINGS), key=lambda one: one.record == SPEC)
DEFAULTS = {field.name: field.default for record in (JobSpec, Request) for field in fields(record)}
ALWAYS_A_FIELD = {"gpus", "priority", "tier"}
ALWAYS_IN_WORDS = {"gpus", "priority", "time_limit_s"}


def requested_fields(spec: JobSpec, nodes: Collection[Node]) -> Requested:
    """Everything that differs from the default."""
    given = dict(_given(spec, nodes, ALWAYS_A_FIELD))
    if "begin_at" in given:
        given["begin_at"] = iso(given["begin_at"])
    return msgspec.convert(given, Requested)


def requested_words(spec: JobSpec, nodes: Collection[Node], now: float) -> list[str]:
    return [WORDINGS[name](value, now) for name, value in _given(spec, nodes, ALWAYS_IN_WORDS)]


def _given(spec: JobSpec, nodes: Collection[Node], always: set[str]) -> Iterator[tuple[str, Any]]:
    for option in OPTIONS:
        value = getattr(spec.request if hasattr(spec.request, option.wire) else spec, option.wire)
        if option.wire in always or value != DEFAULTS[option.wire]:
            yield option.wire, current_names(nodes, value) if option.type == "gpus" else value
