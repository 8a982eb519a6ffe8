"""A state with methods for events and their effects. For example-based tests of the core."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tarmac.core.commands import Command, ForgetRun, Notify, SignalJob, StartJob
from tarmac.core.events import (
    Event,
    GpusSeen,
    JobExited,
    JobsSubmitted,
    JobStarted,
    NodeJoined,
    NodeLeft,
    Reported,
    RulesSet,
    RunReport,
    StopAsked,
    TimePassed,
)
from tarmac.core.invariants import invariants
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import Job, JobSpec
from tarmac.core.model.status import Booked, Starting, Status, state_name
from tests.core.support.builders import BOX, a_node, a_spec, a_state, free_gpus, numbered_gpus, submitted


class Scene:
    """`jobs` also contains ended jobs, which the state drops."""

    def __init__(self, *, gpus: int = 2, cpu_job_slots: int = 2, **rules: Any) -> None:
        self.state = a_state(a_node(gpus=gpus, cpu_job_slots=cpu_job_slots))
        self.state.rules = replace(self.state.rules, **rules)
        self.jobs: dict[JobId, Job] = {}
        self.now = 1000.0
        self.said: list[Command] = []  # commands of the newest event

    def happen(self, event: Event) -> list[Command]:
        self.now += 1.0
        self.said = handle(self.state, event, self.now)
        self.jobs.update((job.id, job) for job in self.state.changes.new)  # a job may end in the event that creates it
        self.jobs.update(self.state.changes.changed)  # one that is retried is another record of the same job
        self.jobs.update(self.state.jobs)
        assert invariants.violations(self.state) == []
        return self.said

    def add(self, job: Job) -> Job:
        """A job as the store would load it."""
        self.state.load([job], next_id=job.id + 1)
        self.jobs[job.id] = job
        return job

    def submit(self, *specs: JobSpec, **spec: int) -> list[JobId]:
        first = self.state.next_id
        self.happen(submitted(*(specs or (a_spec(**spec),))))
        return [JobId(number) for number in range(first, self.state.next_id)]

    def submit_as(self, *specs: JobSpec, **more: Any) -> list[JobId]:
        """Submit with the options of a whole submit: is_group, entry, ended."""
        first = self.state.next_id
        self.happen(JobsSubmitted(specs=specs, **more))
        return [JobId(number) for number in range(first, self.state.next_id)]

    def run(self, *specs: JobSpec, **spec: Any) -> list[JobId]:
        """Submit jobs and report the started ones as running; the others wait."""
        numbers = self.submit_as(*(specs or (a_spec(**spec),)))
        self.begin(*numbers)
        return numbers

    def begin(self, *jobs: int) -> None:
        """The nodes report all starting jobs as running."""
        for number in jobs or tuple(self.state.jobs):
            job = self.jobs[JobId(number)]
            if isinstance(job.status, Starting):
                told = JobStarted(job=job.id, attempt=job.attempt, pid=41, started_at=self.now + 1.0)
                self.report(told, job.status.booking.node)

    def finish(self, job: int = 1, *, exit_code: int | None = 0, **more: Any) -> list[Command]:
        """End a job now, with a report at the same time."""
        status, at = self.jobs[JobId(job)].status, self.now + 1.0
        assert isinstance(status, Booked), status
        began = getattr(status, "started_at", None)
        told: dict[str, Any] = {"signal": None, "pid": 41, "started_at": at if began is None else began, "ended_at": at}
        attempt = self.jobs[JobId(job)].attempt
        report = JobExited(job=JobId(job), attempt=attempt, exit_code=exit_code, **{**told, **more})
        return self.report(report, status.booking.node)

    def pass_s(self, seconds: float) -> list[Command]:
        """Let this much time pass."""
        self.now += seconds - 1.0
        return self.happen(TimePassed())

    def set_rules(self, **rules: Any) -> list[Command]:
        return self.happen(RulesSet(rules=replace(self.state.rules, **rules)))

    def report(self, report: RunReport, node: NodeName = BOX) -> list[Command]:
        return self.happen(Reported(node=node, report=report))

    def stop(self, job: int = 1, *, grace_s: float | None = None) -> list[Command]:
        return self.happen(StopAsked(job=JobId(job), by="ann", grace_s=grace_s))

    def leave(self) -> list[Command]:
        return self.happen(NodeLeft(node=BOX))

    def join(self, *runs: RunReport, cpu_job_slots: int = 2) -> list[Command]:
        return self.happen(NodeJoined(node=BOX, cpu_job_slots=cpu_job_slots, runs=runs))

    def see_gpus(self, count: int) -> list[Command]:
        return self.happen(GpusSeen(node=BOX, gpus=numbered_gpus(count)))

    def status(self, job: int = 1) -> Status:
        return self.jobs[JobId(job)].status

    def states(self) -> list[str]:
        return [state_name(self.jobs[number].status) for number in sorted(self.jobs)]

    def free(self) -> list[int]:
        return [gpu.index for gpu in free_gpus(self.state.nodes[BOX])]

    def state_of(self, job: int) -> str:
        return state_name(self.jobs[JobId(job)].status)

    def at_work(self) -> list[int]:
        """Jobs that hold GPUs."""
        return [number for number, job in sorted(self.jobs.items()) if isinstance(job.status, Booked)]

    def gpus_of(self, job: int) -> list[int]:
        status = self.jobs[JobId(job)].status
        assert isinstance(status, Booked), status
        return [gpu.index for gpu in status.booking.gpus]

    def notices(self) -> list[str]:
        return [command.what for command in self.said if isinstance(command, Notify)]

    def starts(self) -> list[tuple[int, list[int]]]:
        """(job, GPU indices) of each start by the newest event."""
        return [(c.job, [gpu.index for gpu in c.booking.gpus]) for c in self.said if isinstance(c, StartJob)]

    def signals(self) -> list[SignalJob]:
        return [command for command in self.said if isinstance(command, SignalJob)]

    def forgotten(self) -> list[tuple[int, int]]:
        return [(command.job, command.attempt) for command in self.said if isinstance(command, ForgetRun)]

    def story(self, job: int = 1) -> list[str]:
        return [line.kind for line in self.state.changes.story if line.job == job]
