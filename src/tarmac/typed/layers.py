"""Values of job options from several places, one above the other: a line of a batch, the command line, defaults.

What is given above replaces what is below, and also drops options below that it contradicts.
"""

from __future__ import annotations

from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.typed.option import NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tarmac.typed.option import Values

EXCLUDES = {
    "gpu_mem": ("gpu_share",),
    "gpu_share": ("gpu_mem",),
    "gpus": ("gpus_on",),
    "gpus_on": ("gpus",),
    "log": ("stdout", "stderr"),
    "stdout": ("log",),
    "stderr": ("log",),
    "venv": ("conda",),
    "conda": ("venv",),
    "hold": ("draft",),
    "draft": ("hold",),
    "snapshot": ("no_snapshot",),
    "no_snapshot": ("snapshot", "link"),
    "link": ("no_snapshot",),
}
MANY = frozenset(option.name for option in JOB_OPTIONS if option.is_many)
OF_GPUS = tuple(option.name for option in JOB_OPTIONS if option.takes_gpu)
OF_RETRIES = ("retry_on", "retry_delay", "on_oom")


def is_given(value: object) -> bool:
    return value is not None and value is not False and value != []


def overlay(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> Values:
    """Both together; `upper` wins. Variables add up, unless the upper ones are `none`."""
    merged = dict(lower)
    for name, value in upper.items():
        if not is_given(value):
            continue
        for other in excluded(name, value):
            if other in merged and not is_given(upper.get(other)):
                merged[other] = [] if other in MANY else None
        merged[name] = _variables(merged["env"], value) if name == "env" and merged.get("env") else value
    if merged.get("origins"):
        merged["origins"] = {
            name: origin
            for name, origin in merged["origins"].items()
            if is_given(merged.get(name)) and (name == "env" or not is_given(upper.get(name)))
        }
    return merged


def excluded(name: str, value: object) -> tuple[str, ...]:
    """The options that make no sense beside this value."""
    if name == "gpus" and value == 0:
        return (*EXCLUDES["gpus"], *OF_GPUS)
    if name == "retry" and value == 0:
        return OF_RETRIES
    return () if value == NONE else EXCLUDES.get(name, ())


def _variables(lower: list[str], upper: list[str]) -> list[str]:
    if NONE in upper:
        return upper
    set_above = {text.partition("=")[0] for text in upper}
    return [*(text for text in lower if text.partition("=")[0] not in set_above), *upper]
