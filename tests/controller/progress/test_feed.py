"""The core learns when running jobs end by their own progress, if a decision may depend on it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tarmac.controller.controller import Controller
from tarmac.controller.progress import feed
from tarmac.controller.progress.feed import is_notable
from tarmac.controller.settings.settings import Settings
from tarmac.core.events import (
    GpusSeen,
    JobsSubmitted,
    JobStarted,
    NodeJoined,
    ProgressSeen,
    QueuePaused,
    QueueResumed,
    Reported,
)
from tarmac.core.invariants import invariants
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import JobSpec, Request
from tarmac.refusal import unavailable
from tarmac.store.store import Store
from tests.controller.engine.desk import DESK, DIGEST, RecordingFleet, exited, submit

SPEC = JobSpec(
    owner="ann", command=("true",), shell=None, cwd="/", umask=0o022, environment=DIGEST, request=Request(gpus=1)
)
HALF = " 50%|#####     | 50/100 [10:00<{left}, 12.00s/it]"
NOW = 1000.0


class Logs(RecordingFleet):
    """A node that runs jobs and answers with the ends of their logs."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[int, str] = {}
        self.read: list[int] = []
        self.hanging: set[int] = set()
        self.is_away = False

    async def ask(self, node: str, frame: dict[str, Any]) -> dict[str, Any]:
        job = int(Path(frame["path"]).name.partition(".")[0])
        self.read.append(job)
        if self.is_away:
            raise unavailable("agent.unreachable", node=None)
        if job in self.hanging:
            await asyncio.Event().wait()
        return {"data": base64.b64encode(self.texts.get(job, "").encode()).decode()}


class Desk:
    """A controller with one node, whose jobs start at once."""

    def __init__(self, controller: Controller, logs: Logs) -> None:
        self.controller = controller
        self.logs = logs
        self.told: list[ProgressSeen] = []
        self._post = controller.engine.post
        controller.engine.post = self._listen  # type: ignore[method-assign]

    def _listen(self, event: Any) -> None:
        if isinstance(event, ProgressSeen):
            self.told.append(event)
        self._post(event)

    async def join(self, gpus: int, *runs: JobStarted) -> None:
        seen = tuple(Gpu(uuid=GpuUuid(f"G{number}"), index=number) for number in range(gpus))
        await self.controller.engine.commit(
            NodeJoined(node=DESK, cpu_job_slots=4, runs=runs), GpusSeen(node=DESK, gpus=seen)
        )

    async def add(self, *specs: JobSpec) -> list[JobId]:
        """Submit jobs and report those that start as running."""
        numbers = [JobId(number) for number in await submit(self.controller, JobsSubmitted(specs=specs))]
        started = [number for number in numbers if number in self.controller.state.node(DESK).host]
        await self.controller.engine.commit(*(Reported(node=DESK, report=begun(number)) for number in started))
        return numbers

    def left_s(self) -> dict[JobId, float]:
        return {job: end - NOW for job, end in self.controller.state.runtimes.ends_by_progress.items()}

    async def rounds(self, count: int = 3) -> None:
        """Wait until that number of rounds has ended."""
        ended = 0
        look = self.controller.progress_feed._look

        async def counted() -> None:
            nonlocal ended
            try:
                await look()
            finally:
                ended += 1

        self.controller.progress_feed._look = counted  # type: ignore[method-assign]
        async with asyncio.timeout(20):
            while ended < count:  # noqa: ASYNC110 - it reports to nobody
                await asyncio.sleep(0.001)
        self.controller.progress_feed._look = look  # type: ignore[method-assign]
        assert invariants.violations(self.controller.state) == []

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110 - it reports to nobody
                await asyncio.sleep(0.001)

    @property
    def is_asleep(self) -> bool:
        return self.controller.progress_feed._timer is None and self.controller.progress_feed._round is None


def begun(job: int) -> JobStarted:
    return JobStarted(job=JobId(job), attempt=1, pid=41, started_at=NOW)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "FIRST_ROUND_S", 0.005)
    monkeypatch.setattr(feed, "ROUND_S", 0.005)
    monkeypatch.setattr(feed, "READ_WITHIN_S", 0.05)
    monkeypatch.setattr(feed, "AGAIN_AFTER_PART", 0.0)
    monkeypatch.setattr("tarmac.controller.progress.reader.FRESH_S", 0.0)


@pytest.fixture
def desk(tmp_path: Path) -> Callable[[Callable[[Desk], Awaitable[None]]], None]:
    def run(story: Callable[[Desk], Awaitable[None]]) -> None:
        async def told() -> None:
            store = Store(tmp_path / "tarmac.db")
            logs = Logs()
            fleet: Any = logs
            settings = Settings({}, {})
            controller = Controller(
                store=store, settings=settings, state_folder=tmp_path, home=DESK, fleet=fleet, clock=lambda: NOW
            )
            try:
                await story(Desk(controller, logs))
            finally:
                store.close()

        asyncio.run(told())

    return run


def test_the_core_learns_the_ends_of_jobs_that_others_wait_for(desk: Any) -> None:
    async def story(desk: Desk) -> None:
        desk.logs.texts = {1: HALF.format(left="30:00"), 2: "training"}
        await desk.join(2)
        one, _, _ = await desk.add(SPEC, SPEC, SPEC)
        await desk.until(desk.left_s)
        assert desk.left_s() == {one: pytest.approx(1800.0, abs=30.0)}
        desk.logs.texts[1] = HALF.format(left="1:30:00")
        await desk.until(lambda: desk.left_s()[one] > 3600.0)
        desk.logs.texts[1] = "evaluating"
        await desk.until(lambda: not desk.left_s())

    desk(story)


def test_no_log_is_read_while_no_job_waits(desk: Any) -> None:
    async def story(desk: Desk) -> None:
        desk.logs.texts = {1: HALF.format(left="30:00")}
        await desk.join(1)
        await desk.add(SPEC)
        await asyncio.sleep(0.05)
        assert desk.is_asleep
        assert not desk.logs.read
        (waiting,) = await desk.add(SPEC)
        await desk.until(desk.left_s)
        await desk.controller.engine.commit(exited(1))
        await desk.controller.engine.commit(Reported(node=DESK, report=begun(waiting)))
        await desk.until(lambda: desk.is_asleep)
        read = len(desk.logs.read)
        await asyncio.sleep(0.05)
        assert len(desk.logs.read) == read

    desk(story)


@pytest.mark.parametrize(
    "spec",
    [replace(SPEC, time_limit_s=3600.0), replace(SPEC, request=Request(gpus=0))],
    ids=["has a limit", "holds nothing"],
)
def test_logs_that_decide_nothing_are_not_read(desk: Any, spec: JobSpec) -> None:
    async def story(desk: Desk) -> None:
        desk.logs.texts = {1: HALF.format(left="30:00"), 2: HALF.format(left="30:00")}
        await desk.join(1)
        await desk.add(spec)
        await desk.add(replace(SPEC, request=Request(gpus=1)), SPEC)
        await desk.rounds()
        assert 1 not in desk.logs.read

    desk(story)


def test_no_log_is_read_while_the_queue_is_paused(desk: Any) -> None:
    async def story(desk: Desk) -> None:
        desk.logs.texts = {1: HALF.format(left="30:00")}
        await desk.join(1)
        await desk.add(SPEC)
        await desk.controller.engine.commit(QueuePaused(by="ann"))
        await desk.add(SPEC)
        await desk.rounds()
        assert not desk.logs.read
        await desk.controller.engine.commit(QueueResumed(by="ann"))
        await desk.until(desk.left_s)

    desk(story)


NONSENSE = [
    "100%|##########| 100/100 [10:00<00:00, 6.00s/it]",
    "  0%|          | 0/100 [00:00<?, ?it/s]",
    "  0%|          | 0/100 [00:00<10:00, 6.00s/it]",
    " 50%|#####     | 50/100 [10:00<-10:00, 12.00s/it]",
    " 50%|#####     | 50/100 [10:00<26280000:00:00, 12.00s/it]",
    " 50%|#####     | 50/100 [10:00<999999 days, 0:00:00, 12.00s/it]",
    "-50%|#####     | -50/100 [10:00<10:00, 12.00s/it]",
    "500%|#####     | 500/100 [10:00<nan, 12.00s/it]",
    "accuracy 93%, eta: never",
]


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_is_not_an_end(desk: Any, text: str) -> None:
    async def story(desk: Desk) -> None:
        desk.logs.texts = {1: text}
        await desk.join(1)
        await desk.add(SPEC, SPEC)
        await desk.rounds()
        assert 1 in desk.logs.read
        assert not desk.left_s() or min(desk.left_s().values()) > 0
        assert max(desk.left_s().values(), default=0.0) < 366 * 86400
        desk.logs.texts = {1: HALF.format(left="30:00")}
        await desk.until(lambda: desk.left_s().get(JobId(1), 0.0) == pytest.approx(1800.0, abs=30.0))
        desk.logs.texts = {1: text}
        await desk.until(lambda: desk.left_s().get(JobId(1), 0.0) != pytest.approx(1800.0, abs=30.0))

    desk(story)


def test_the_core_is_told_again_only_of_another_end(desk: Any) -> None:
    async def story(desk: Desk) -> None:
        desk.logs.texts = {1: HALF.format(left="30:00"), 2: HALF.format(left="10:00")}
        await desk.join(2)
        await desk.add(SPEC, SPEC, SPEC)
        await desk.until(lambda: len(desk.left_s()) == 2)
        desk.told.clear()
        await desk.rounds()
        desk.logs.texts[1] = HALF.format(left="28:00")  # less than a tenth
        await desk.rounds()
        assert not desk.told
        desk.logs.texts[1] = HALF.format(left="20:00")
        await desk.until(lambda: desk.told)
        await desk.rounds()
        assert [[end.job for end in event.ends] for event in desk.told] == [[1]]

    desk(story)


def test_the_ends_are_known_again_after_the_memory_was_lost(desk: Any) -> None:
    async def story(desk: Desk) -> None:
        desk.logs.texts = {1: HALF.format(left="30:00")}
        await desk.join(1)
        await desk.add(SPEC, SPEC)
        await desk.until(desk.left_s)
        desk.controller.engine._reload()
        assert not desk.left_s()
        await desk.join(1, begun(1))
        await desk.until(desk.left_s)

    desk(story)


def test_the_ends_are_known_again_after_a_restart(desk: Any) -> None:
    async def before(desk: Desk) -> None:
        await desk.join(1)
        await desk.add(SPEC, SPEC)

    async def after(desk: Desk) -> None:
        desk.logs.texts = {1: HALF.format(left="30:00")}
        desk.logs.is_away = True
        await desk.rounds()
        await desk.join(1, begun(1))
        await desk.rounds()
        assert not desk.left_s()
        desk.logs.is_away = False
        await desk.until(desk.left_s)

    desk(before)
    desk(after)


def test_the_work_of_a_round_is_bounded_and_every_job_gets_its_turn(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "MOST_PER_ROUND", 7)
    monkeypatch.setattr(feed, "AGAIN_AFTER_PART", 1.0)

    async def story(desk: Desk) -> None:
        desk.logs.texts = {number: HALF.format(left="30:00") for number in range(1, 31)}
        desk.logs.hanging = {3, 4}
        await desk.join(30)
        await desk.add(*[SPEC] * 30, replace(SPEC, request=Request(gpus=30)))
        await desk.until(lambda: len(desk.left_s()) == 28)
        await desk.rounds()
        assert max(len(event.ends) for event in desk.told) <= 7
        assert sorted(desk.logs.read) == list(range(1, 31)), "each once: nothing is due again, and what hangs goes on"

    desk(story)


def test_a_round_that_fails_is_not_the_last(desk: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def story(desk: Desk) -> None:
        desk.logs.texts = {1: HALF.format(left="30:00")}
        await desk.join(1)
        monotonic, feed.monotonic = feed.monotonic, None  # type: ignore[attr-defined, assignment]
        await desk.add(SPEC, SPEC)
        await desk.rounds()
        feed.monotonic = monotonic  # type: ignore[attr-defined]
        await desk.until(desk.left_s)

    desk(story)
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    ("known_s", "seen_s", "is_told"),
    [
        (None, None, False),
        (None, 30.0, True),
        (None, -30.0, False),
        (None, 0.0, False),
        (3600.0, None, True),
        (3600.0, -1.0, True),
        (-5.0, None, True),
        (-5.0, 20.0, True),
        (600.0, 650.0, False),  # less than a minute
        (600.0, 661.0, True),
        (600.0, 539.0, True),
        (36000.0, 37000.0, False),  # less than a tenth
        (36000.0, 40000.0, True),
        (36000.0, 10.0, True),
        (10.0, 36000.0, True),
    ],
)
def test_only_another_end_is_notable(known_s: float | None, seen_s: float | None, is_told: bool) -> None:
    known, seen = (None if one is None else NOW + one for one in (known_s, seen_s))
    assert is_notable(known, seen, NOW) is is_told
