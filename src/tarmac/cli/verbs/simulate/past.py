"""The past as a trace: jobs that have ended, as the controller remembers them, and the GPUs they ran on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tarmac.errors import UserError
from tarmac.shared.clocks import epoch
from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.sim.trace import trace_job

if TYPE_CHECKING:
    from tarmac.client import Client
    from tarmac.sim.trace import TraceJob

ASKED = (
    "owner", "name", "project", "priority", "gpu_memory_bytes", "gpu_share", "gpu_models", "min_gpu_memory_bytes",
    "memory_bytes", "cpus",
)  # fmt: skip
FIELDS = (*ASKED, "id", "gpus_asked", "submitted_at", "started_at", "ended_at", "tier", "time_limit_s")


def past_trace(client: Client) -> list[TraceJob]:
    """Everything that ever started. What was killed ran as long as it ran; nobody knows how long it would have."""
    pages = client.pages({"state": "ended", "fields": ",".join(FIELDS)})
    jobs = [job for page in pages for job in page if job["started_at"] and job["ended_at"]]
    if not jobs:
        raise UserError("no job has ended yet, so there is no past to simulate", "`--trace FILE` takes any trace")
    first = min(epoch(job["submitted_at"]) for job in jobs)
    return [_trace_job(job, first) for job in jobs]


def _trace_job(job: dict[str, Any], first: float) -> TraceJob:
    asked = {name: job[name] for name in ASKED if job.get(name) is not None}
    return trace_job(
        submit_s=epoch(job["submitted_at"]) - first,
        gpus=job["gpus_asked"],
        duration_s=max(0.0, epoch(job["ended_at"]) - epoch(job["started_at"])),
        limit_s=job.get("time_limit_s"),
        tier=job.get("tier") or "normal",
        **asked,
    )


def machines_here(client: Client, *, cpus: int, memory_bytes: int) -> list[Machine]:
    nodes: dict[str, list[SimulatedGpu]] = {}
    for gpu in client.call("GET", "/gpus")["gpus"]:
        simulated = SimulatedGpu(memory_bytes=gpu["memory_total_bytes"] or 0, model=gpu["model"] or "")
        nodes.setdefault(gpu["node"], []).append(simulated)
    if not nodes:
        raise UserError("no GPUs here to simulate on", "say which: --nodes 1x4")
    return [Machine(gpus=tuple(gpus), cpus=cpus, memory_bytes=memory_bytes) for gpus in nodes.values()]
