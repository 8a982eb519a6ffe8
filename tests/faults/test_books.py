"""Tests of the judge: each broken promise is detected."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults import books
from tests.faults.books import Line, Story
from tests.faults.world import World
from tests.home import Home, until


@pytest.fixture
def world(tmp_path: Path, witness: Path) -> World:
    """A world without Tarmac processes."""
    return World(Home(tmp_path / "home", "4"), witness)


class Witnesses:
    """Start jobs as a faulty Tarmac would."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, job: int, *words: str, attempt: int = 1, gpus: str = "") -> None:
        told = {"TARMAC_JOB_ID": str(job), "TARMAC_ATTEMPT": str(attempt), "CUDA_VISIBLE_DEVICES": gpus}
        command = [str(self._world.witness), str(self._world.folder), "0", *words]
        self._running.append(subprocess.Popen(command, env={**os.environ, **told}))
        assert until(lambda: (job, attempt) in self._begun() and self._is_asleep()), "it is at work"

    def _begun(self) -> set[tuple[int, int]]:
        return {(int(line[0]), int(line[1])) for line in self._world.lines() if line[3] == "start"}

    def _is_asleep(self) -> bool:
        """Wait until the last witness has checked everything."""
        stat = Path(f"/proc/{self._running[-1].pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "S"

    def broken(self) -> list[tuple[int, str]]:
        """The violations found, once all witnesses have ended."""
        self._world.let_go()
        for one in self._running:
            one.wait(20)
        return [(int(line[0]), line[3]) for line in self._world.lines() if line[3] not in {"start", "end"}]


@pytest.fixture
def witnesses(world: World) -> Iterator[Witnesses]:
    world.hold()
    witnesses = Witnesses(world)
    yield witnesses
    witnesses.broken()


def test_a_gpu_may_be_shared_up_to_its_whole(witnesses: Witnesses) -> None:
    witnesses.start(1, "quarters:2", gpus="0")
    witnesses.start(2, "quarters:2", gpus="0,1")
    witnesses.start(4, gpus="2")
    witnesses.start(7, "quarters:1", gpus="0")
    witnesses.start(8, gpus="1")
    witnesses.start(10, gpus="3")
    assert witnesses.broken() == [(7, "clash"), (8, "clash")]


def test_two_attempts_at_once_are_detected(witnesses: Witnesses) -> None:
    witnesses.start(1, attempt=1)
    witnesses.start(1, attempt=2)
    assert witnesses.broken() == [(1, "overlap")]


def test_too_many_running_jobs_of_an_array_are_detected(witnesses: Witnesses) -> None:
    for job in (1, 2, 4):
        witnesses.start(job, "array:a:2")
    witnesses.start(7, "array:b:2")
    assert witnesses.broken() == [(4, "crowd")]


def test_a_start_before_its_dependency_ended_is_detected(witnesses: Witnesses) -> None:
    witnesses.start(1)
    witnesses.start(2, "after:1")
    witnesses.start(4, "after:-2")
    witnesses.start(7, "after:3")
    assert witnesses.broken() == [(2, "early"), (4, "early")]


def line(job: int, attempt: int, kind: str, *, at: float = 10.0, gpus: tuple[int, ...] = ()) -> Line:
    return Line(key=(job, attempt), at=at, kind=kind, detail={"gpus": list(gpus)})


def job(number: int, **more: Any) -> dict[int, dict[str, Any]]:
    known = {"id": number, "attempt": 1, "tier": "normal", "after": [], "state": "succeeded", "gpu_share": None}
    return {number: {**known, "gpus": [], "started_at": None, "ended_at": None, **more}}


def test_another_attempt_needs_a_cause() -> None:
    jobs = job(1, attempt=2, tier="preemptible") | job(2, attempt=2)
    story = Story(
        lines=[line(1, 1, "Preempted"), line(2, 2, "Preempted"), line(1, 2, "Decided"), line(1, 2, "Decided")]
    )
    assert list(books.attempts_without_cause(jobs, story)) == [
        "job 2 has attempt 2, and nobody sent attempt 1 back",
        "attempt 2 of job 1 was decided 2 times",
        "job 2 is normal, and was preempted",
    ]


def test_starts_while_paused_or_on_reserved_gpus_are_detected(world: World) -> None:
    world.pauses = [(5.0, 9.0), (11.0, 12.0)]
    world.reserved = [(8.0, 10.5, {2, 3})]
    lines = [line(1, 1, "Decided"), line(2, 1, "Decided", at=8.5, gpus=(3,)), line(3, 1, "Decided", gpus=(0, 2))]
    story = Story(lines=lines)
    assert [words.partition(" was")[0] for words in books.begun_while_paused(world, story)] == ["attempt 1 of job 2"]
    assert [words.partition(" was")[0] for words in books.begun_on_reserved(world, story)] == [
        "attempt 1 of job 2",
        "attempt 1 of job 3",
    ]


def test_marks_are_compared_with_decisions_and_dependencies(world: World) -> None:
    (world.folder / "witness").write_text("1 1 0,1 start 70 500\n2 1 - start 71 400\n2 2 - start 72 600\n")
    story = Story(lines=[line(1, 1, "Decided", gpus=(0, 2)), line(2, 1, "Decided")])
    assert list(books.marks_without_decision(world, story)) == [
        "job 1 was given GPUs 0,1, Tarmac says [0, 2]",
        "attempt 2 of job 2 ran, and nobody decided that",
    ]
    jobs = job(1, after=["2:ok"]) | job(2) | job(3, after=["1:any"])
    assert list(books.begun_too_early(world, jobs)) == ["job 1 began before job 2, which it waits for"]


@pytest.mark.parametrize(
    ("state", "on", "is_hopeless"),
    [("succeeded", "ok", False), ("succeeded", "fail", True), ("failed", "ok", True), ("unknown", "fail", False)],
)
def test_a_dependency_fails_if_the_other_job_ended_differently(state: str, on: str, is_hopeless: bool) -> None:
    jobs = job(1, state=state) | job(2, after=[f"1:{on}", "1:any"])
    assert books.is_hopeless(jobs, jobs[2]) is is_hopeless


def test_an_overbooked_gpu_is_detected() -> None:
    def on_gpu(number: int, since: int, until: int, share: float | None = None) -> dict[int, dict[str, Any]]:
        return job(
            number, gpus=[{"node": "desk", "index": 0}], started_at=f"{since}", ended_at=f"{until}", gpu_share=share
        )

    fits = on_gpu(1, 1, 3) | on_gpu(2, 3, 6, 0.5) | on_gpu(3, 4, 6, 0.5)
    assert not list(books.overbooked(fits))
    assert list(books.overbooked(fits | on_gpu(4, 5, 8, 0.25))) == [
        "job 4 had GPU 0 of desk at 5 with 4 of 4 parts taken"
    ]
