"""Other time limits for a trace: what the same jobs would have waited if people gave no limits, or good ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.sim.trace import TraceJob

Limits: TypeAlias = Literal["as-given", "none", "x2"]
ALL_LIMITS: tuple[Limits, ...] = get_args(Limits)
DEFAULT_LIMITS: tuple[Limits] = ("as-given",)
LEAST_S = 1.0  # a limit of 0 s is not a limit


def with_limits(trace: Iterable[TraceJob], limits: Limits) -> list[TraceJob]:
    """`none` and `x2` let every job run for its whole duration, also those that their own limit would have stopped."""
    match limits:
        case "as-given":
            return list(trace)
        case "none":
            return [replace(job, limit_s=None) for job in trace]
        case "x2":
            return [replace(job, limit_s=multiple(2.0, job.duration_s)) for job in trace]


def multiple(factor: float, duration_s: float) -> float:
    """A limit that is a multiple of the duration."""
    return max(LEAST_S, factor * duration_s)
