"""A trace from history: the ended jobs that the controller remembers, what it knew before them, and its GPUs."""

from __future__ import annotations

from math import inf, nextafter
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.cli.verbs.admin.simulate.columns import TRACE_FIELDS
from tarmac.errors import UserError
from tarmac.shared.clocks import epoch
from tarmac.shared.units import duration_words
from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.sim.past import PastRun
from tarmac.sim.trace import trace_job

if TYPE_CHECKING:
    from tarmac.client import Client
    from tarmac.client.records import Job
    from tarmac.sim.trace import Ending, TraceJob

ASKED = {option.view: field for option, field in TRACE_FIELDS.values() if option.view}
TIMES = ("submitted_at", "begin_at", "started_at", "ended_at")
FIELDS = ("id", "owner", "state", "reason", "command", "gpus_asked", "after", *TIMES, *ASKED)

ENDINGS: dict[str, Ending] = {"succeeded": "succeeded", "failed": "failed"}  # any other teaches nothing, like cancelled


class History(NamedTuple):
    trace: list[TraceJob]
    past: list[PastRun]  # runs that are not simulated, but the scheduler knew them


def history(client: Client, last_s: float | None = None) -> History:
    """Every job that ever started, or was submitted in the last seconds. Earlier ones are the past."""
    jobs = [job for job in client.jobs(state="ended", fields=FIELDS) if job.raw["started_at"] and job.raw["ended_at"]]
    if not jobs:
        raise UserError("no job has ended yet, so the history is empty", "use `--trace FILE`")
    ends = {job.raw["id"]: epoch(job.raw["ended_at"]) for job in jobs}
    first = min(epoch(job.raw["submitted_at"]) for job in jobs)
    since = first if last_s is None else time() - last_s
    simulated = [job for job in jobs if epoch(job.raw["submitted_at"]) >= since]
    if not simulated:
        raise UserError(
            f"no job that has ended was submitted in the last {duration_words(last_s or 0.0)}", "use a longer `--last`"
        )
    earlier = [job for job in jobs if epoch(job.raw["submitted_at"]) < since]
    return History(
        [_trace_job(job, first, ends) for job in simulated],
        [_past_run(job, first, ends) for job in earlier],
    )


def _past_run(job: Job, first: float, ends: dict[int, float]) -> PastRun:
    started, ended = epoch(job.raw["started_at"]) - first, epoch(job.raw["ended_at"]) - first
    return PastRun(job=_trace_job(job, first, ends), starts_at=started, ends_at=max(started, ended))


def _trace_job(job: Job, first: float, ends: dict[int, float]) -> TraceJob:
    """A job that failed or was killed runs as long as it did, and ends so. One that reached its limit does so again."""
    given: dict[str, Any] = {field: job.raw[name] for name, field in ASKED.items() if job.raw[name] is not None}
    ran_s = max(0.0, epoch(job.raw["ended_at"]) - epoch(job.raw["started_at"]))
    limit_s = given.get("limit_s")
    if limit_s is not None and job.raw["reason"] == "timeout":
        ran_s = max(ran_s, nextafter(limit_s, inf))
    elif limit_s is not None:
        given["limit_s"] = max(limit_s, ran_s)  # it ended before its limit; only its processes took longer to exit
    return trace_job(
        submit_s=_eligible_at(job, ends) - first,
        owner=job.owner,
        gpus=job.gpus_asked,
        duration_s=ran_s,
        command=tuple(job.raw["command"]) or None,
        ending=ENDINGS.get(job.raw["state"], "cancelled"),
        **given,
    )


def _eligible_at(job: Job, ends: dict[int, float]) -> float:
    """When it could have started: at its submit, its begin time, or the end of the last job it waited for."""
    moments = [epoch(job.raw[name]) for name in ("submitted_at", "begin_at") if job.raw[name]]
    waited_for = (int(word.partition(":")[0]) for word in job.raw["after"])
    moments += [ends[number] for number in waited_for if number in ends]
    return min(max(moments), epoch(job.raw["started_at"]))


def machines_here(client: Client, *, cpus: int, memory_bytes: int) -> list[Machine]:
    nodes: dict[str, list[SimulatedGpu]] = {}
    for gpu in client.gpus():
        simulated = SimulatedGpu(memory_bytes=gpu.memory_total_bytes or 0, model=gpu.model or "")
        nodes.setdefault(gpu.node, []).append(simulated)
    if not nodes:
        raise UserError("this machine has no GPUs to simulate", "name the machines: --nodes 1x4")
    return [Machine(gpus=tuple(gpus), cpus=cpus, memory_bytes=memory_bytes) for gpus in nodes.values()]
