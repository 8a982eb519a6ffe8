"""Jobs to schedule: read from a file or generated, cut into windows, and brought to a load."""

import csv
from collections.abc import Sequence
from dataclasses import replace

from bench.scheduling.reference.cluster import Job
from tarmac.sim.machines import Machine, SimulatedGpu
from tarmac.sim.synthetic import made_up

GPUS_PER_NODE = 8
SYNTHETIC_JOBS = 20_000
SEED = 1


def read_jobs(path: str) -> list[Job]:
    """Read a CSV file with the columns submit_s, owner, gpus, duration_s and factor; others are ignored.

    A plausible time limit of a job is its duration times `factor`. Jobs that fit on no node are left out.
    """
    with open(path, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if 0 < int(row["gpus"]) <= GPUS_PER_NODE]
    return in_order([_job_of(row) for row in rows])


def _job_of(row: dict[str, str]) -> Job:
    duration_s = float(row["duration_s"])
    return Job(
        number=0,
        submit_s=float(row["submit_s"]),
        owner=row["owner"],
        gpus=int(row["gpus"]),
        duration_s=duration_s,
        limit_s=duration_s * max(1.0, float(row["factor"])),
    )


def synthetic_jobs(count: int = SYNTHETIC_JOBS) -> list[Job]:
    """Generated jobs. One without a time limit, or with one that is too short, gets twice its duration."""
    trace = made_up(count, nodes(4), SEED)
    jobs = [
        Job(
            number=0,
            submit_s=job.submit_s,
            owner=job.owner,
            gpus=job.request.gpus,
            duration_s=job.duration_s,
            limit_s=2 * job.duration_s if job.limit_s is None else max(job.limit_s, job.duration_s),
        )
        for job in trace
    ]
    return in_order(jobs)


def nodes(count: int) -> list[Machine]:
    return [Machine(gpus=(SimulatedGpu(),) * GPUS_PER_NODE)] * count


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """Sorted by submit and numbered; the first is submitted at 0."""
    jobs = sorted(jobs, key=lambda job: job.submit_s)
    return [replace(job, number=number, submit_s=job.submit_s - jobs[0].submit_s) for number, job in enumerate(jobs)]


def windows(jobs: Sequence[Job], count: int, length: int) -> list[list[Job]]:
    """Parts of consecutive jobs, spread evenly over the trace."""
    length = min(length, len(jobs) // count)
    first = [(len(jobs) - length) * (2 * number + 1) // (2 * count) for number in range(count)]
    return [in_order(jobs[begin : begin + length]) for begin in first]


def at_load(jobs: Sequence[Job], node_count: int, load: float) -> list[Job]:
    """The same jobs, submitted so that they request this fraction of the cluster's GPU time while they arrive."""
    if not jobs[-1].submit_s:
        return list(jobs)  # all come at once, so they have no rate to change
    work = sum(job.gpus * job.duration_s for job in jobs)
    scale = work / (node_count * GPUS_PER_NODE) / load / jobs[-1].submit_s
    return [replace(job, submit_s=job.submit_s * scale) for job in jobs]
