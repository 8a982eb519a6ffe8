"""Former names of settings, and what other GPU schedulers call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tarmac.refusal import Refused, not_found

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = TypeVar("Value")

FORMER = {"pause_after_failures": "suspend_after_failures"}  # still read, in the config file and in the database
RENAMED = {
    "safety_keep_memory": "keep_host_memory",
    "safety_keep_gpu_memory": "keep_gpu_memory",
    "max-load": "max_load",
    "max-memory": "max_memory",
    "max_run": "max_queued",
    "max-run": "max_queued",
    "job_limit": "max_queued",
    "job limit": "max_queued",
    "limit": "max_gpus_per_job",
    "schedule": "policy",
}
REPLACED = {
    "max_err_times": "retries",
    "timer_polling_time": "polling",
    "sleep_secs": "polling",
    "save_every": "saving",
    "use_gpus": "drain",
    "device_id_map": "slots",
    "time_limit": "time_limit",
    "user_priority": "shares",
}


def present_name(name: str) -> str:
    return FORMER.get(name, name)


def with_present_names(values: Mapping[str, Value]) -> dict[str, Value]:
    """Values by their present names. If both names are there, the present one counts."""
    former = {FORMER[name]: value for name, value in values.items() if name in FORMER}
    return {**former, **{name: value for name, value in values.items() if name not in FORMER}}


def rows_of(name: str, text: str | None) -> dict[str, str | None]:
    """What the database stores for a setting; None deletes a row, such as that of a former name."""
    return {**{old: None for old, now in FORMER.items() if now == name}, name: text}


def refusal_of_old_name(name: str) -> Refused | None:
    """None where no other tool has a setting of that name."""
    known = name.lower()
    if known in RENAMED:
        return not_found("setting.renamed", name=name, now=RENAMED[known])
    if known in REPLACED:
        return not_found("setting.of_another_tool", name=name, instead=REPLACED[known])
    return None
