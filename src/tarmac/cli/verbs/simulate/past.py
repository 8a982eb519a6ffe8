"""A trace from history: the ended jobs that the controller remembers, and its GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tarmac.cli.verbs.simulate.columns import TRACE_FIELDS
from tarmac.errors import UserError
from tarmac.shared.clocks import epoch
from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.sim.trace import trace_job

if TYPE_CHECKING:
    from tarmac.client import Client
    from tarmac.client.records import Job
    from tarmac.sim.trace import TraceJob

ASKED = {option.view: field for option, field in TRACE_FIELDS.values() if option.view}
FIELDS = ("id", "owner", "gpus_asked", "submitted_at", "started_at", "ended_at", *ASKED)


def past_trace(client: Client) -> list[TraceJob]:
    """Every job that ever started. A killed job counts with the time it ran."""
    jobs = [job for job in client.jobs(state="ended", fields=FIELDS) if job.raw["started_at"] and job.raw["ended_at"]]
    if not jobs:
        raise UserError("no job has ended yet, so there is no history to simulate", "use `--trace FILE`")
    first = min(epoch(job.raw["submitted_at"]) for job in jobs)
    return [_trace_job(job, first) for job in jobs]


def _trace_job(job: Job, first: float) -> TraceJob:
    submitted, started, ended = (epoch(job.raw[name]) for name in ("submitted_at", "started_at", "ended_at"))
    given: dict[str, Any] = {field: job.raw[name] for name, field in ASKED.items() if job.raw[name] is not None}
    return trace_job(
        submit_s=submitted - first,
        owner=job.owner,
        gpus=job.gpus_asked,
        duration_s=max(0.0, ended - started),
        **given,
    )


def machines_here(client: Client, *, cpus: int, memory_bytes: int) -> list[Machine]:
    nodes: dict[str, list[SimulatedGpu]] = {}
    for gpu in client.gpus():
        simulated = SimulatedGpu(memory_bytes=gpu.memory_total_bytes or 0, model=gpu.model or "")
        nodes.setdefault(gpu.node, []).append(simulated)
    if not nodes:
        raise UserError("this machine has no GPUs to simulate", "name the machines: --nodes 1x4")
    return [Machine(gpus=tuple(gpus), cpus=cpus, memory_bytes=memory_bytes) for gpus in nodes.values()]
