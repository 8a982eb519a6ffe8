"""What a setting must not be, although it is well written: too short, too broad, or at odds with another. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tarmac.errors import UserError
from tarmac.shared.units import DAY_S, typed_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WILD = re.compile(r"\[[^]]*\]|[*?]")  # what a glob matches without naming it
_SECONDS: dict[str, tuple[float, float]] = {  # least and most
    "grace_s": (0, DAY_S),
    "half_life_s": (60, 366 * DAY_S),  # nothing can be halved in no time
    "idle_warn_s": (1, 366 * DAY_S),  # with nothing, every job would be marked as soon as it starts
}
IN_ORDER = ("idle_warn_s", "idle_stop_s")


def check_alone(name: str, value: Any) -> None:
    """Raises UserError that says what is right."""
    if name in _SECONDS:
        least, most = _SECONDS[name]
        if not least <= value <= most:
            room = f"from {typed_duration(least)} to {typed_duration(most)}"
            raise UserError(f"{name} = {typed_duration(value)} is not {room}", hint=f"set {name} to a duration {room}")
    elif name == "ignore_processes":
        refuse_too_broad(value)
    elif name == "keep_gpu_memory" and value >= 1:
        raise UserError(
            "keep_gpu_memory = 1 would leave nothing of any GPU to jobs that share it",
            hint="set keep_gpu_memory to a fraction below 1, such as 0.1 or 10%",
        )


def refuse_too_broad(patterns: Iterable[str]) -> None:
    """Then every GPU would count as free, whoever is on it."""
    for pattern in patterns:
        if not _WILD.sub("", pattern):
            raise UserError(
                f"{pattern} would ignore every process of every program", hint="name a program, such as Xorg or kwin_*"
            )


def check_together(values: Mapping[str, float]) -> None:
    """A job is marked before it is stopped, so the one may not be due after the other."""
    warn_s, stop_s = (values[name] for name in IN_ORDER)
    if stop_s < warn_s:
        raise UserError(
            f"idle_stop_s ({typed_duration(stop_s)}) would be below idle_warn_s ({typed_duration(warn_s)}), "
            "and a job is marked before it is stopped",
            hint=f"idle_stop_s may be {typed_duration(warn_s)} or more; or set idle_warn_s lower first",
        )
