"""Which options a refusal of the controller is about, and where their values come from."""

from __future__ import annotations

from tarmac.shared.job_options import JOB_OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tarmac.errors import TarmacError

OPTIONS = {
    "infeasible.": ("gpus", "gpus_on", "gpu_mem", "min_gpu_mem", "gpu_model", "mem", "cpus", "node", "exclude_node"),
    "submit.cwd": ("cwd",),
    "submit.log": ("log", "stdout", "stderr"),
    "after.": ("after",),
    "gpu.": ("gpus_on", "exclude_gpus"),
    "submit.node": ("node", "exclude_node", "prefer_node"),
    "notify.": ("notify", "on"),
    "submit.env": ("env",),
    "submit.venv": ("venv",),
    "submit.conda": ("conda",),
}  # by the beginning of the refusal's key
_WIRES = {option.name: option.wire for option in JOB_OPTIONS}


def blamed(key: str) -> tuple[str, ...]:
    """The names of options that may be wrong."""
    return next((names for beginning, names in OPTIONS.items() if key.startswith(beginning)), ())


def name_origins(error: TarmacError, requests: Sequence[Mapping[str, Any]]) -> None:
    """Add the files and templates that the wrong values come from to the hints."""
    if error.key is not None:
        error.hint = _hint(error.hint, error.key, requests[0])
    for one in error.jobs:
        one["hint"] = _hint(one["hint"], one["key"], requests[one["index"]])


def _hint(hint: str | None, key: str, request: Mapping[str, Any]) -> str | None:
    origins = request.get("origins", {})
    found = [f"{name.replace('_', '-')} comes from {origins[_WIRES[name]]}"
             for name in blamed(key) if _WIRES[name] in origins]  # fmt: skip
    return "; ".join([*([hint] if hint else []), *found]) or None
