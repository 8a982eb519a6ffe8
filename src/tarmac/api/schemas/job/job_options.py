"""The types of a job's options in its view, made from the table in shared/job_options.py."""

from __future__ import annotations

from typing import Any

from tarmac.shared.job_options import JOB_OPTIONS

_TYPES: dict[str, Any] = {
    "int": int, "float": float, "str": str, "bool": bool, "texts": list[str], "gpus": list[int | str], "moment": str,
    "memory": int,
}  # fmt: skip


def option_types(*, in_list: bool) -> dict[str, Any]:
    """By field, for lists of jobs or for what only a single job has."""
    shown = [option for option in JOB_OPTIONS if option.view and option.in_list == in_list]
    return {option.view: _TYPES[option.type] | None if option.is_nullable else _TYPES[option.type] for option in shown}
