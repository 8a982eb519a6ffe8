"""Compares the scheduler's decisions with the requests: the events in the database, the witness file, the API.

Each function yields a message for every broken promise.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.faults.world import World

QUARTERS = 4  # the smallest part of a GPU that these jobs request
REQUEUED = {"Preempted", "QueueStopped"}
BEGUN = {"Decided", "StartForced"}

Jobs = dict[int, dict[str, Any]]
Key = tuple[int, int]  # job and attempt


@dataclass(frozen=True, kw_only=True)
class Line:
    key: Key
    at: float
    kind: str
    detail: dict[str, Any]


@dataclass(kw_only=True)
class Story:
    """The decisions that Tarmac recorded."""

    lines: list[Line]
    begun: dict[Key, Line] = field(default_factory=dict)
    requeued: set[Key] = field(default_factory=set)
    failed: set[Key] = field(default_factory=set)  # attempts that ended badly, by themselves or not

    def __post_init__(self) -> None:
        self.begun = {line.key: line for line in self.lines if line.kind in BEGUN}
        self.requeued = {line.key for line in self.lines if line.kind in REQUEUED}
        self.failed = {line.key for line in self.lines if line.kind == "JobExited" and line.detail["exit_code"] != 0}

    def count(self, kind: str) -> int:
        return sum(line.kind == kind for line in self.lines)


def story_of(world: World) -> Story:
    database = sqlite3.connect(f"file:{world.home.path}/tarmac.db?mode=ro", uri=True)
    try:
        rows = database.execute("SELECT job, attempt, at, kind, detail FROM events ORDER BY id").fetchall()
    finally:
        database.close()
    return Story(
        lines=[
            Line(key=(job, attempt), at=at, kind=kind, detail=json.loads(detail))
            for job, attempt, at, kind, detail in rows
        ]
    )


def attempts_without_cause(jobs: Jobs, story: Story) -> Iterator[str]:
    """A job has another attempt only if it was requeued or is retried, and each attempt is decided once."""
    for number, job in jobs.items():
        causes = story.requeued | (story.failed if job.get("retries") else set())
        for attempt in range(1, job["attempt"]):
            if (number, attempt) not in causes:
                yield f"job {number} has attempt {attempt + 1}, and nobody sent attempt {attempt} back"
    decided = Counter(line.key for line in story.lines if line.kind in BEGUN)
    for (number, attempt), count in decided.items():
        if count > 1:
            yield f"attempt {attempt} of job {number} was decided {count} times"
    for line in story.lines:
        job = jobs.get(line.key[0])
        if line.kind == "Preempted" and job is not None and job["tier"] != "preemptible":
            yield f"job {line.key[0]} is {job['tier']}, and was preempted"


def retries_not_made(jobs: Jobs, story: Story) -> Iterator[str]:
    """A job that is retried fails only once its retries are used up."""
    for number, job in jobs.items():
        if job.get("retries") and job["state"] == "failed" and job["reason"] in {"exit", "signal", "killed"}:
            failed = sum(key[0] == number for key in story.failed)
            if failed <= job["retries"]:
                yield f"job {number} failed after {failed} attempts, with {job['retries']} retries"


def marks_without_decision(world: World, story: Story) -> Iterator[str]:
    """Everything that ran was decided, and ran on the decided GPUs."""
    for job, attempt, gpus, event, *_ in world.lines():
        line = story.begun.get((int(job), int(attempt)))
        if event != "start" or int(job) in world.removed:
            continue
        if line is None:
            yield f"attempt {attempt} of job {job} ran, and nobody decided that"
        elif gpus != (",".join(map(str, line.detail["gpus"])) or "-"):
            yield f"job {job} was given GPUs {gpus}, Tarmac says {line.detail['gpus']}"


def begun_while_paused(world: World, story: Story) -> Iterator[str]:
    for (job, attempt), line in story.begun.items():
        if any(since < line.at < until for since, until in world.pauses):
            yield f"attempt {attempt} of job {job} was begun while the queue was paused"


def begun_on_reserved(world: World, story: Story) -> Iterator[str]:
    """Starts on GPUs that were reserved for another user."""
    for (job, attempt), line in story.begun.items():
        for since, until, gpus in world.reserved:
            if since < line.at < until and gpus & set(line.detail["gpus"]):
                yield f"attempt {attempt} of job {job} was begun on a reserved GPU of {sorted(gpus)}"


def is_hopeless(jobs: Jobs, job: dict[str, Any]) -> bool:
    """A dependency ended differently than required."""
    return any(not _is_met(jobs, after) for after in job["after"])


def _is_met(jobs: Jobs, after: str) -> bool:
    number, _, on = after.partition(":")
    ended_well = jobs[int(number)]["state"] == "succeeded"
    return on == "any" or ended_well == (on == "ok")


def begun_too_early(world: World, jobs: Jobs) -> Iterator[str]:
    """The witness checks that the dependency has ended; this checks that the job was not started too early."""
    starts: dict[int, list[int]] = {}
    for line in world.lines():
        if line[3] == "start":
            starts.setdefault(int(line[0]), []).append(int(line[5]))
    for number, job in jobs.items():
        for after in job["after"] if number in starts else ():
            other = int(after.partition(":")[0])
            if any(start > min(starts[number]) for start in starts.get(other, ())):
                yield f"job {number} began before job {other}, which it waits for"


def overbooked(jobs: Jobs) -> Iterator[str]:
    """According to Tarmac's times, no GPU is ever overbooked."""
    gpus: dict[str, list[tuple[str, int, int]]] = {}
    for number, job in jobs.items():
        if not (job["started_at"] and job["ended_at"]):
            continue
        taken = round(QUARTERS * (job["gpu_share"] or 1))
        for gpu in job["gpus"] or []:
            # An end frees GPUs for a start at the same time, so a release sorts before a booking.
            gpus.setdefault(f"{gpu['index']} of {gpu['node']}", []).extend(
                [(job["started_at"], taken, number), (job["ended_at"], -taken, number)]
            )
    for name, changes in gpus.items():
        held = 0
        for at, taken, number in sorted(changes):
            held += taken
            if held > QUARTERS:
                yield f"job {number} had GPU {name} at {at} with {held - taken} of {QUARTERS} parts taken"
