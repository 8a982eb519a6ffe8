"""Refuses well-formed values that a setting must not have: out of bounds, too broad, or contradicting another. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tarmac.refusal import invalid
from tarmac.shared.names import MOST_RETRIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.controller.settings.setting import Setting

LEAST_LOG_LIMIT = 64 * 1024  # a smaller one would be reached again at once
_WILD = re.compile(r"\[[^]]*\]|[*?]")  # the wildcards of a glob


def check(setting: Setting, value: Any) -> None:
    """Check one setting on its own."""
    name = setting.name
    if setting.kind == "seconds" and not setting.least <= value <= setting.most:
        raise invalid("setting.out_of_range", name=name, value=value, least=setting.least, most=setting.most)
    if name == "log_limit" and 0 < value < LEAST_LOG_LIMIT:
        raise invalid("setting.log_limit_too_small", value=value, least=LEAST_LOG_LIMIT)
    if name == "retries" and value > MOST_RETRIES:
        raise invalid("setting.too_many_retries", value=value, most=MOST_RETRIES)
    if name == "history_dump" and value and not value.startswith("/"):
        raise invalid("setting.not_absolute", name=name, value=value)
    if name == "ignore_processes":
        refuse_too_broad(value)
    if name == "keep_gpu_memory" and value >= 1:
        raise invalid("setting.reserves_all_memory", value=value)


def refuse_too_broad(patterns: Iterable[str]) -> None:
    """A pattern that matches every program would make every GPU count as free."""
    for pattern in patterns:
        if not _WILD.sub("", pattern):
            raise invalid("setting.ignores_everything", pattern=pattern)


def check_order(*, idle_warn_s: float, idle_stop_s: float) -> None:
    """A job is warned before it is stopped."""
    if idle_stop_s < idle_warn_s:
        raise invalid("setting.stop_before_warning", stop_s=idle_stop_s, warn_s=idle_warn_s)
