"""Checks all promises with three sources that must agree: the witness file, the API and the database."""

import os
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tarmac.shared.clocks import epoch
from tests.faults import books
from tests.faults.load import OVER_LIMIT_MS
from tests.faults.world import World, eventually

SIGKILL, SIGTERM = 9, 15
# Violations that the witness finds, and the promise that each breaks.
BROKEN = {
    "clash": "found GPU {gpus} taken",
    "overlap": "found an earlier attempt alive",
    "crowd": "found too many of its array alive",
    "early": "found a job alive that it waits for",
}


@dataclass(kw_only=True)
class Verdict:
    """Each list contains the jobs that break one promise."""

    jobs: int
    unknown: int
    lost: list[int] = field(default_factory=list)  # acknowledged, but without a final state
    lost_retries: list[str] = field(default_factory=list)
    run_twice: list[str] = field(default_factory=list)
    booked_twice: list[str] = field(default_factory=list)
    wrong_exit: list[str] = field(default_factory=list)
    not_unknown: list[str] = field(default_factory=list)  # the shim was killed during the job, yet it has an outcome
    out_of_turn: list[str] = field(default_factory=list)  # started against the rules: paused, reserved, array full, …
    other: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not any(self._broken().values())

    def _broken(self) -> dict[str, list[Any]]:
        return {
            "lost": self.lost,
            "lost retries": self.lost_retries,
            "run twice": self.run_twice,
            "booked twice": self.booked_twice,
            "wrong exit codes": self.wrong_exit,
            "an end claimed that nobody saw": self.not_unknown,
            "begun out of turn": self.out_of_turn,
            "other": self.other,
        }

    def __str__(self) -> str:
        return f"{self.jobs} jobs, {self.unknown} unknown; " + "; ".join(
            f"{len(found)} {name}" + (f" {found[:5]}" if found else "") for name, found in self._broken().items()
        )


def expected_end(job: int) -> tuple[int | None, int | None]:
    """(exit code, signal): the same rule as in witness.c."""
    if job % 16 == 5:
        return None, SIGKILL
    return (1 + job % 100 if job % 3 == 0 else 0), None


def judge(world: World) -> Verdict:
    """Call it when every job has ended and Tarmac runs."""
    jobs = {job["id"]: job for page in world.client.pages({}) for job in page}
    rows = _rows(world)
    verdict = Verdict(jobs=len(jobs), unknown=sum(job["state"] == "unknown" for job in jobs.values()))
    verdict.lost = sorted(
        number for number in set(world.acknowledged) if number not in jobs or rows.get(number, ("", 1))[1]
    )
    verdict.other += [f"acknowledged twice: {number}" for number, n in Counter(world.acknowledged).items() if n > 1]
    verdict.other += [f"nobody asked for job {number}" for number in jobs.keys() - set(world.acknowledged)]
    verdict.other += [
        f"job {n}: the API says {job['state']}, the database {rows[n][0]}"
        for n, job in jobs.items()
        if n in rows and rows[n][0] != job["state"]
    ]
    _look_at_witness(world, jobs, verdict)
    _look_at_books(world, jobs, verdict)
    _look_at_ends(world, jobs, verdict)
    return verdict


def _rows(world: World) -> dict[int, tuple[str, int]]:
    database = sqlite3.connect(f"file:{world.home.path}/tarmac.db?mode=ro", uri=True)
    try:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {row[0]: (row[1], row[2]) for row in database.execute("SELECT id, state, is_live FROM jobs")}
    finally:
        database.close()


def _look_at_witness(world: World, jobs: dict[int, dict[str, Any]], verdict: Verdict) -> None:
    lines = [line for line in world.lines() if int(line[0]) not in world.removed]
    verdict.other += [f"job {line[0]} ran and is not on record" for line in lines if int(line[0]) not in jobs]
    starts = Counter((line[0], line[1]) for line in lines if line[3] == "start")
    verdict.run_twice = [f"attempt {attempt} of job {job}" for (job, attempt), count in starts.items() if count > 1]
    for job, attempt, gpus, event, *_ in lines:
        if event in BROKEN:
            told = f"attempt {attempt} of job {job} {BROKEN[event].format(gpus=gpus)}"
            {"clash": verdict.booked_twice, "overlap": verdict.run_twice}.get(event, verdict.out_of_turn).append(told)


def _look_at_books(world: World, jobs: dict[int, dict[str, Any]], verdict: Verdict) -> None:
    story = books.story_of(world)
    verdict.booked_twice += books.overbooked(jobs)
    verdict.run_twice += books.attempts_without_cause(jobs, story)
    verdict.other += books.marks_without_decision(world, story)
    verdict.lost_retries += books.retries_not_made(jobs, story)
    verdict.out_of_turn += [
        *books.begun_while_paused(world, story),
        *books.begun_on_reserved(world, story),
        *books.begun_too_early(world, jobs),
    ]


def _look_at_ends(world: World, jobs: dict[int, dict[str, Any]], verdict: Verdict) -> None:
    marks = {(int(line[0]), int(line[1]), line[3]) for line in world.lines()}
    for number, job in jobs.items():
        if number in world.bereft:
            if job["state"] != "unknown":
                verdict.not_unknown.append(f"job {number}: {job['state']}, attempt {job['attempt']}: {job['attempts']}")
            continue
        claimed = (job["state"], job["reason"], job["exit_code"], job["signal"])
        right = _right_ends(world, jobs, job)
        if claimed not in right:
            verdict.wrong_exit.append(f"job {number}: {claimed}, should be {right[0]}")
        elif job["reason"] == "dependency" and job["attempt"]:
            verdict.out_of_turn.append(f"job {number} ran, and what it waited for ended otherwise")
        elif _must_leave_marks(world, job) and not {(number, job["attempt"], it) for it in ("start", "end")} <= marks:
            verdict.other.append(f"job {number} is {job['state']} and was never seen to run to its end")


def _right_ends(
    world: World, jobs: dict[int, dict[str, Any]], job: dict[str, Any]
) -> list[tuple[str, str | None, int | None, int | None]]:
    """The allowed values of (state, reason, exit code, signal)."""
    if job["id"] in world.stopped:
        return [("cancelled", None, job["exit_code"], job["signal"])]
    if books.is_hopeless(jobs, job):
        return [("failed", "dependency", None, None)]
    if is_over_limit(job):
        # On a busy machine a job may exit too late and be killed; one that ignores the signal always is.
        return [("failed", "timeout", None, n) for n in (SIGKILL, *([] if "stubborn" in job["command"] else [SIGTERM]))]
    code, signal = (None, SIGKILL) if job["id"] in world.killed_jobs else expected_end(job["id"])
    if code == 0:
        return [("succeeded", None, 0, None)]
    reasons = ["exit" if signal is None else "signal"]
    if signal == SIGKILL:
        reasons = ["killed", "reboot"]  # a power failure may come before its end is reported
    reasons += ["disk-full"] if _ended_on_full_disk(world, job) else []
    return [("failed", reason, code, signal) for reason in reasons]


def _ended_on_full_disk(world: World, job: dict[str, Any]) -> bool:
    """The disk of its log was full at its end. The job itself may have freed some space just before."""
    ended_s = epoch(job["ended_at"])
    return any(begin <= ended_s <= end for begin, end in world.full_spans)


def is_over_limit(job: dict[str, Any]) -> bool:
    return job["command"][2:3] == [str(OVER_LIMIT_MS)]


def _must_leave_marks(world: World, job: dict[str, Any]) -> bool:
    """The job ran to its end. With a time limit, even its start may be cut short."""
    is_cut_short = job["id"] in world.stopped | world.killed_jobs or is_over_limit(job)
    return not is_cut_short and job["reason"] != "dependency"


def expect_all_well(world: World, within_s: float = 60.0) -> Verdict:
    """Every job ends, every promise holds, and no process or file of the jobs is left."""
    world.wait_for_all(within_s)
    verdict = judge(world)
    assert verdict.is_good, str(verdict)
    runs = world.home.path / "agent/runs"
    eventually(lambda: not os.listdir(runs), "the agent has forgotten every run")
    eventually(lambda: not world.seen("shim"), "every shim has ended")
    for process in ("controller", "agent"):
        log = world.log_of(process)
        assert "Traceback" not in log, log
        assert "unexpected error" not in log, log
    return verdict
