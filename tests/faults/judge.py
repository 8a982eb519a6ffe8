"""Says whether the promises were kept, from three sources that must agree: the witness file, the API, the database."""

import os
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.faults.world import World, eventually

SIGKILL = 9


@dataclass(kw_only=True)
class Verdict:
    """Every list names the jobs that break a promise."""

    jobs: int
    unknown: int
    lost: list[int] = field(default_factory=list)  # acknowledged, and without a final state
    run_twice: list[int] = field(default_factory=list)
    booked_twice: list[str] = field(default_factory=list)
    wrong_exit: list[str] = field(default_factory=list)
    not_unknown: list[int] = field(default_factory=list)  # its shim was killed in the middle, yet an end is claimed
    other: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not (
            self.lost or self.run_twice or self.booked_twice or self.wrong_exit or self.not_unknown or self.other
        )

    def __str__(self) -> str:
        broken = {
            "lost": self.lost,
            "run twice": self.run_twice,
            "booked twice": self.booked_twice,
            "wrong exit codes": self.wrong_exit,
            "an end claimed that nobody saw": self.not_unknown,
            "other": self.other,
        }
        return f"{self.jobs} jobs, {self.unknown} unknown; " + "; ".join(
            f"{len(found)} {name}" + (f" {found[:5]}" if found else "") for name, found in broken.items()
        )


def expected_end(job: int) -> tuple[int | None, int | None]:
    """(exit code, signal): the same rule as in witness.c."""
    if job % 16 == 5:
        return None, SIGKILL
    return (1 + job % 100 if job % 3 == 0 else 0), None


def judge(world: World) -> Verdict:
    """Once every job has ended and Tarmac runs."""
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
    starts = Counter(int(line[0]) for line in lines if line[3] == "start")
    verdict.run_twice = sorted(job for job, count in starts.items() if count > 1)
    verdict.booked_twice = [f"job {line[0]} found GPU {line[2]} held" for line in lines if line[3] == "clash"]
    verdict.booked_twice += _overlaps(jobs)
    for line in lines:
        told = ",".join(str(gpu["index"]) for gpu in jobs.get(int(line[0]), {}).get("gpus") or []) or "-"
        if line[3] == "start" and line[2] != told:
            verdict.other.append(f"job {line[0]} was given GPUs {line[2]}, Tarmac says {told}")


def _overlaps(jobs: dict[int, dict[str, Any]]) -> list[str]:
    """By Tarmac's own times: on one card, one job ends before the next starts."""
    cards: dict[int, list[tuple[str, str, int]]] = {}
    for number, job in jobs.items():
        if job["started_at"] and job["ended_at"]:
            for gpu in job["gpus"] or []:
                cards.setdefault(gpu["index"], []).append((job["started_at"], job["ended_at"], number))
    return [
        f"jobs {one[2]} and {other[2]} had GPU {index} at once"
        for index, held in cards.items()
        for one, other in pairwise(sorted(held))
        if other[0] < one[1]
    ]


def _look_at_ends(world: World, jobs: dict[int, dict[str, Any]], verdict: Verdict) -> None:
    started, ended = set(world.started()), {int(line[0]) for line in world.lines() if line[3] == "end"}
    for number, job in jobs.items():
        if number in world.bereft:
            verdict.not_unknown += [number] if job["state"] != "unknown" else []
            continue
        if number in world.stopped:
            verdict.wrong_exit += [] if job["state"] == "cancelled" else [f"job {number} was stopped: {job['state']}"]
            continue
        code, signal = (None, SIGKILL) if number in world.killed_jobs else expected_end(number)
        state = "succeeded" if code == 0 else "failed"
        if (job["state"], job["exit_code"], job["signal"]) != (state, code, signal):
            claimed = f"{job['state']} {job['reason']} code {job['exit_code']} signal {job['signal']}"
            verdict.wrong_exit.append(f"job {number}: {claimed}, should be {state} code {code} signal {signal}")
        elif number not in started or (number not in ended and number not in world.killed_jobs):
            verdict.other.append(f"job {number} is {job['state']} and was never seen to run to its end")


def expect_all_well(world: World, within_s: float = 60.0) -> Verdict:
    """Every job ends, every promise is kept, and nothing of the jobs is left lying about."""
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
