"""What a job asked for beyond a number of GPUs, and what it took, in words."""

from __future__ import annotations

from tarmac.cli.render.text import counted, gpu_names
from tarmac.shared.units import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Job = dict[str, Any]


def demands(job: Job) -> Iterator[tuple[str, str]]:
    if booked := _booked(job):
        yield "shares", booked
    if asked := "; ".join(_constraints(job)):
        yield "only on", asked
    if host := ", ".join(_of_host(job)):
        yield "host", host


def taken(job: Job) -> str:
    """Peak memory, average load and energy, as far as they are known."""
    parts = []
    if job.get("peak_gpu_memory_bytes"):
        parts.append(f"at most {size(job['peak_gpu_memory_bytes'])} of GPU memory")
    if job.get("utilization") is not None:
        parts.append(f"GPUs {job['utilization']:.0f}% busy on average")
    if job.get("energy_j"):
        parts.append(energy(job["energy_j"]))
    return ", ".join(parts)


def energy(joules: float) -> str:
    watt_hours = joules / 3600
    if watt_hours < 1:
        return f"{joules:.0f} J"
    return f"{watt_hours:.1f} Wh" if watt_hours < 1000 else f"{watt_hours / 1000:.1f} kWh"


def _booked(job: Job) -> str:
    each = "each GPU" if job["gpus_asked"] > 1 else "a GPU"
    if job.get("gpu_memory_bytes"):
        return f"{size(job['gpu_memory_bytes'])} of {each} booked"
    return f"{job['gpu_share']:.0%} of {each} booked" if job.get("gpu_share") else ""


def _constraints(job: Job) -> Iterator[str]:
    if job.get("gpus_on"):
        yield gpu_names(job["gpus_on"])
    if job.get("exclude_gpus"):
        yield f"not {gpu_names(job['exclude_gpus'])}"
    if job.get("gpu_models"):
        yield " or ".join(job["gpu_models"])
    if job.get("min_gpu_memory_bytes"):
        yield f"{size(job['min_gpu_memory_bytes'])} of memory or more"
    if job.get("idle_below") is not None:
        yield f"less than {job['idle_below']:g}% busy"


def _of_host(job: Job) -> Iterator[str]:
    if job.get("memory_bytes"):
        yield f"{size(job['memory_bytes'])} of memory booked"
    if job.get("cpus"):
        yield counted(job["cpus"], "core")
