"""The cost of a scheduling pass on a large, full cluster after one job ended, with a short and a long queue."""

import gc
import random
from collections.abc import Iterator
from dataclasses import replace

from bench.clock import median, timed
from bench.figures import Figure, milliseconds
from tarmac.core.commands import Command, StartJob
from tarmac.core.events import Event, GpusSeen, JobExited, JobsSubmitted, JobStarted, NodeJoined, Reported
from tarmac.core.machine import handle
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.job import Job, JobSpec, Request
from tarmac.core.model.status import Running
from tarmac.core.state import State

NODES, GPUS, OWNERS = 1_000, 8, 50
SHORT, LONG = 1_000, 100_000
PASSES, WARM_UP = 1_000, 50
KINDS = 6  # of jobs per owner: the cost of a pass grows with the kinds, not with the jobs
LIMITS_S = (None, 1800.0, 3600.0, 4 * 3600.0, 12 * 3600.0, 86400.0)


def figures() -> Iterator[Figure]:
    short, long = (passes(a_machine_with(waiting)) for waiting in (SHORT, LONG))
    p99_s = sorted(long)[-(-99 * len(long) // 100) - 1]
    yield Figure(
        what=f"a pass, {LONG:,} queued, {NODES:,} × {GPUS} GPUs, p99",
        measured=f"{milliseconds(p99_s)} (median {milliseconds(median(long))})",
        ratio=p99_s * 1000,
        unit="ms",
        must=20,
        aim=10,
    )
    yield Figure(
        what=f"a pass, {LONG:,} queued ÷ {SHORT:,}",
        measured=milliseconds(median(long)),
        ratio=median(long) / median(short),
        unit="×",
        must=1.5,
        aim=1.1,
    )


class Machine:
    """A state whose jobs start as soon as it is decided."""

    def __init__(self, seed: int) -> None:
        self.state = State()
        self.now = 1.0
        self.dice = random.Random(seed)
        self.kinds = [[self.a_kind(f"owner{number}") for _ in range(KINDS)] for number in range(OWNERS)]
        self.running: list[Job] = []
        for number in range(NODES):
            name = NodeName(f"n{number}")
            model = "NVIDIA A100" if number % 2 else "NVIDIA H100"
            gpus = tuple(
                Gpu(uuid=GpuUuid(f"{name}-{n}"), index=n, model=model, memory_total_bytes=80 << 30) for n in range(GPUS)
            )
            self.happen(NodeJoined(node=name, cpu_job_slots=16, runs=()))
            self.happen(GpusSeen(node=name, gpus=gpus))

    def happen(self, event: Event) -> list[Command]:
        commands = handle(self.state, event, self.now)
        self.state.take_changes()
        return commands

    def submit(self, count: int) -> None:
        self.go_on(self.happen(JobsSubmitted(specs=tuple(self.a_spec() for _ in range(count)))))

    def go_on(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, StartJob):
                started = JobStarted(job=command.job, attempt=command.attempt, pid=1, started_at=self.now)
                self.happen(Reported(node=command.booking.node, report=started))
                self.running.append(self.state.jobs[command.job])

    def an_end(self) -> Event:
        """The end of a random running job."""
        job = self.running.pop(self.dice.randrange(len(self.running)))
        assert isinstance(job.status, Running)
        self.now += 1.0
        end = JobExited(
            job=job.id,
            attempt=job.attempt,
            exit_code=0,
            signal=None,
            pid=1,
            started_at=job.status.started_at,
            ended_at=self.now,
        )
        return Reported(node=job.status.booking.node, report=end)

    def a_spec(self) -> JobSpec:
        kind = self.dice.choice(self.dice.choice(self.kinds))
        return replace(kind, priority=self.dice.choice((5, 10, 10, 10)))

    def a_kind(self, owner: str) -> JobSpec:
        dice = self.dice
        request = Request(gpus=dice.choice((1, 1, 1, 1, 2, 2, 4, 8)))
        if dice.random() < 0.2:
            request = replace(request, gpu_models=(dice.choice(("a100", "h100")),))
        return JobSpec(
            owner=owner,
            command=("python", "train.py"),
            shell=None,
            cwd="/",
            umask=0o022,
            environment="",
            request=request,
            time_limit_s=dice.choice(LIMITS_S),
        )


def a_machine_with(waiting: int) -> Machine:
    """A full cluster with about this many waiting jobs."""
    machine = Machine(seed=1)
    while len(machine.state.queue) < SHORT // 2:
        machine.submit(SHORT)
    machine.submit(max(0, waiting - len(machine.state.queue)))
    return machine


def passes(machine: Machine) -> list[float]:
    gc.collect()
    gc.freeze()  # as the controller does
    found = []
    for _ in range(WARM_UP + PASSES):
        event, commands = machine.an_end(), list[Command]()
        found.append(timed(lambda: commands.extend(machine.happen(event))))  # noqa: B023 - called at once
        machine.go_on(commands)
    gc.unfreeze()
    return found[WARM_UP:]
