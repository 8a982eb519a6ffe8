"""The engine with a real database and a node that only writes down what it is told."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import pytest

from tarmac.api.views.job import Viewer
from tarmac.controller.controller import Controller
from tarmac.controller.decision import Decision
from tarmac.controller.settings.settings import Settings
from tarmac.controller.submit.submissions import Token
from tarmac.controller.wall_clock import ClockSteps
from tarmac.core.events import (
    GpusSeen,
    JobExited,
    JobsSubmitted,
    JobStarted,
    NodeJoined,
    QueuePaused,
    Reported,
    ReservationMade,
    StopAsked,
)
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import After, JobSpec, Request
from tarmac.core.model.note import note
from tarmac.core.model.queue import Mode, Reservation
from tarmac.core.model.status import Failed
from tarmac.core.state import State
from tarmac.core.transitions import TRANSITIONS, ImpossibleTransition
from tarmac.nodes.reports import GpuProcess, GpuReading
from tarmac.refusal import Refused, conflict
from tarmac.store.accounts import Usage
from tarmac.store.rows import pack_environment
from tarmac.store.store import Store

DESK = NodeName("desk")
DIGEST, BODY = pack_environment({"PATH": "/bin"})


class SentFrame(NamedTuple):
    node: NodeName
    frame: dict[str, Any]


class RecordingFleet:
    """Records the frames it is given instead of sending them."""

    def __init__(self) -> None:
        self.sent: list[SentFrame] = []
        self.disconnects = 0
        self.admitted: list[NodeName] = []

    def send_command(self, node: NodeName, frame: dict[str, Any]) -> None:
        self.sent.append(SentFrame(node, frame))

    def send_at_once(self, node: NodeName, frame: dict[str, Any]) -> bool:
        self.sent.append(SentFrame(node, frame))
        return True

    def admit(self, node: NodeName) -> None:
        self.admitted.append(node)

    def is_connected(self, _: NodeName) -> bool:
        return True

    def boot_id(self, node: NodeName) -> str | None:
        return None

    def disconnect(self) -> None:
        self.disconnects += 1

    def frames(self, kind: str) -> list[dict[str, Any]]:
        return [sent.frame for sent in self.sent if sent.frame["type"] == kind]

    def jobs_in(self, kind: str) -> list[int]:
        return [frame["job"] for frame in self.frames(kind)]


def specs(count: int = 1, gpus: int = 1) -> JobsSubmitted:
    spec = JobSpec(
        owner="ann",
        command=("true",),
        shell=None,
        cwd="/",
        umask=0o022,
        environment=DIGEST,
        request=Request(gpus=gpus),
    )
    return JobsSubmitted(specs=(spec,) * count)


def run(folder: Path, story: Callable[[Controller, RecordingFleet], Awaitable[None]]) -> None:
    async def told() -> None:
        store = Store(folder / "tarmac.db")
        fleet = RecordingFleet()
        controller = Controller(
            store=store,
            settings=Settings({}, {}),
            state_folder=folder,
            home=DESK,
            fleet=fleet,  # type: ignore[arg-type]
            clock=lambda: 1000.0,
        )
        engine = controller.engine
        engine.post(NodeJoined(node=DESK, cpu_job_slots=4, runs=()))
        engine.post(GpusSeen(node=DESK, gpus=(Gpu(uuid=GpuUuid("G0"), index=0),)))
        await engine.commit()  # behind what was posted
        try:
            await story(controller, fleet)
        finally:
            store.close()

    asyncio.run(told())


async def submit(
    controller: Controller,
    event: JobsSubmitted,
    token: Token | None = None,
    check: Callable[[State], None] = lambda _: None,
) -> range:
    return await controller.submissions.submit(event, {DIGEST: BODY}, token, check)


def exited(job: int) -> Reported:
    report = JobExited(job=JobId(job), attempt=1, exit_code=0, signal=None, pid=9, started_at=1000.0, ended_at=1001.0)
    return Reported(node=DESK, report=report)


def test_a_job_is_on_disk_and_its_start_sent_before_the_submit_returns(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        ids = await submit(controller, specs(2))
        assert list(ids) == [1, 2]
        assert [controller.store.reader.job(number) is not None for number in ids] == [True, True]
        assert fleet.jobs_in("start") == [1]
        assert fleet.sent[0].frame["env"]["PATH"] == "/bin"

    run(tmp_path, story)


def test_a_freed_gpu_is_given_to_the_next_job_in_the_commit_of_the_exit(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        await submit(controller, specs(2))
        await controller.engine.commit(exited(1))
        assert fleet.jobs_in("forget") == [1]
        assert fleet.jobs_in("start") == [1, 2]

    run(tmp_path, story)


def test_an_impossible_transition_is_reported_with_the_story_of_its_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        monkeypatch.setitem(TRANSITIONS, ("starting", "StopAsked"), ())
        with pytest.raises(ImpossibleTransition, match="job 1: starting -> stopping because of StopAsked") as caught:
            await controller.engine.commit(StopAsked(job=JobId(1), by="ann"))
        for text in (str(caught.value), caplog.text):
            assert "attempt 0 JobSubmitted" in text
            assert "attempt 1 Decided" in text

    run(tmp_path, story)


def test_the_same_token_at_the_same_time_or_later_gives_the_same_jobs(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        token = Token("ann", "t1")
        first, second = await asyncio.gather(
            submit(controller, specs(), token),
            submit(controller, specs(), token),
        )
        assert list(first) == list(second) == [1]
        assert list(await submit(controller, specs(), token)) == [1]
        assert list(await submit(controller, specs(), Token("bob", "t1"))) == [2]

    run(tmp_path, story)


def test_a_commit_that_fails_acknowledges_nothing_and_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        await submit(controller, specs())
        controller.store._writer._connection.execute("PRAGMA max_page_count = 1")  # the disk is full from here on
        monkeypatch.setattr("tarmac.controller.engine.RETRY_AFTER_FULL_S", 0.01)
        many = JobsSubmitted(specs=specs().specs * 2000)
        with pytest.raises(Refused, match=r"store\.cannot_write"):
            await submit(controller, many)
        assert list(controller.state.jobs) == [1]
        with pytest.raises(Refused) as caught:
            await submit(controller, specs())
        assert caught.value.key == "server.cannot_write"
        assert fleet.jobs_in("start") == [1]
        await controller.store_usage()  # nor does the end of the controller fail
        controller.store._writer._connection.execute("PRAGMA max_page_count = 1000000")
        assert controller.engine._recovery is not None
        await asyncio.wait_for(controller.engine._recovery, 10)
        assert controller.degraded is None
        assert fleet.disconnects == 1, "the node is asked anew what really runs"
        assert list(await submit(controller, specs())) == [2]

    run(tmp_path, story)


def test_a_restart_knows_what_was_committed(tmp_path: Path) -> None:
    async def first(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs(3))
        started = JobStarted(job=JobId(1), attempt=1, pid=9, started_at=1000.0)
        await controller.engine.commit(Reported(node=DESK, report=started))

    async def second(controller: Controller, fleet: RecordingFleet) -> None:
        # The node came back without a trace of job 1, which ran: it must not be started again.
        assert fleet.jobs_in("start") == [2]
        assert controller.store.reader.job(1).status.message == note("unknown.no_record")  # type: ignore[union-attr]

    run(tmp_path, first)
    run(tmp_path, second)


def test_a_decision_that_breaks_leaves_the_state_as_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs(2))
        with monkeypatch.context() as patch:
            patch.setattr("tarmac.controller.engine.handle", _break)
            with pytest.raises(ZeroDivisionError):
                await controller.engine.commit(StopAsked(job=JobId(2), by="ann"))
        assert sorted(controller.state.jobs) == [1, 2]

    run(tmp_path, story)


def _break(*_: object) -> None:
    raise ZeroDivisionError


def test_a_node_is_admitted_once_its_join_was_handled(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        assert fleet.admitted == [DESK]
        await controller.engine.commit(NodeJoined(node=DESK, cpu_job_slots=4, runs=()))
        assert fleet.admitted == [DESK, DESK]

    run(tmp_path, story)


def test_a_submit_whose_client_went_away_is_committed_and_its_token_stays_valid(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        token = Token("ann", "t1")
        first = asyncio.ensure_future(submit(controller, specs(), token))
        await asyncio.sleep(0)
        first.cancel()
        assert list(await submit(controller, specs(), token)) == [1]
        assert controller.degraded is None
        assert list(controller.state.jobs) == [1]

    run(tmp_path, story)


def test_ids_of_a_database_that_was_moved_away_are_not_reused(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "41.1.log").touch()
    (tmp_path / "agent" / "runs" / "57.1").mkdir(parents=True)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        assert list(await submit(controller, specs())) == [58]

    run(tmp_path, story)


def test_a_start_uses_the_current_indices_of_its_gpus(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        await submit(controller, specs())
        controller.engine.post(GpusSeen(node=DESK, gpus=(Gpu(uuid=GpuUuid("G0"), index=5),)))
        await controller.engine.commit(NodeJoined(node=DESK, cpu_job_slots=4, runs=()))
        starts = fleet.frames("start")
        assert [frame["env"]["CUDA_VISIBLE_DEVICES"] for frame in starts] == ["0", "5"]

    run(tmp_path, story)


# Plans are called when their turn comes


def test_a_plan_sees_earlier_decisions_of_the_same_batch(tmp_path: Path) -> None:
    seen: list[int] = []

    def plan(state: State) -> Decision[None]:
        seen.extend(state.jobs)
        return Decision(answer=None)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        await asyncio.gather(submit(controller, specs()), controller.engine.decide(plan))
        assert seen == [1]

    run(tmp_path, story)


def test_the_answer_of_a_plan_is_returned_once_its_events_are_on_disk(tmp_path: Path) -> None:
    def plan(state: State) -> Decision[int]:
        return Decision(answer=state.next_id, events=[specs(2)], environments={DIGEST: BODY})

    async def story(controller: Controller, _: RecordingFleet) -> None:
        assert await controller.engine.decide(plan) == 1
        assert await controller.engine.decide(plan) == 3
        assert sorted(controller.store.reader.jobs([1, 2, 3, 4])) == [1, 2, 3, 4]

    run(tmp_path, story)


def test_a_plan_that_refuses_changes_nothing_and_affects_no_other(tmp_path: Path) -> None:
    def refuse(_: State) -> None:
        raise conflict("jobs.still_running", jobs=[1], first=1)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        refused, accepted = await asyncio.gather(
            submit(controller, specs(), Token("ann", "t1"), refuse),
            submit(controller, specs()),
            return_exceptions=True,
        )
        assert isinstance(refused, Refused)
        assert list(accepted) == [1]  # type: ignore[call-overload]
        assert controller.degraded is None
        assert list(await submit(controller, specs(), Token("ann", "t1"))) == [2], "the token is still good"

    run(tmp_path, story)


def test_a_plan_that_breaks_fails_only_its_own_caller(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        state = controller.state
        broken, accepted = await asyncio.gather(
            submit(controller, specs(), check=_break), submit(controller, specs()), return_exceptions=True
        )
        assert isinstance(broken, ZeroDivisionError)
        assert list(accepted) == [1]  # type: ignore[call-overload]
        assert (controller.degraded, controller.state, fleet.disconnects) == (None, state, 0)
        assert "a plan failed" in caplog.text

    run(tmp_path, story)


def test_a_job_may_depend_on_one_that_ends_in_the_same_batch(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        await submit(controller, specs())
        following = JobsSubmitted(specs=(replace(specs().specs[0], after=(After(job=JobId(1), on="ok"),)),))
        hopeless = JobsSubmitted(specs=(replace(specs().specs[0], after=(After(job=JobId(1), on="fail"),)),))
        await asyncio.gather(
            controller.engine.commit(exited(1)),
            submit(controller, following),
            submit(controller, hopeless),
        )
        assert fleet.jobs_in("start") == [1, 2]
        ended = controller.store.reader.job(3)
        assert ended is not None
        assert isinstance(ended.status, Failed)
        assert ended.status.reason == "dependency"

    run(tmp_path, story)


# Time


def test_a_job_starts_when_its_begin_time_comes(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        began = asyncio.get_running_loop().time()
        controller.engine._clock = lambda: 1000.0 + asyncio.get_running_loop().time() - began
        later = JobsSubmitted(specs=(replace(specs().specs[0], begin_at=1000.2),))
        await submit(controller, later)
        assert fleet.jobs_in("start") == []
        listener = controller.publisher.listen()
        while not fleet.jobs_in("start"):
            assert await listener.take(10), "nobody woke up"
        assert controller.now() >= 1000.2

    run(tmp_path, story)


def test_elapsed_times_do_not_follow_a_clock_that_is_set(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        began, ahead_s = monotonic(), [0.0]
        controller.engine._clock = lambda: 1000.0 + ahead_s[0] + monotonic() - began
        controller.engine._steps = ClockSteps(controller.engine._clock)
        await submit(controller, specs())
        report = JobStarted(job=JobId(1), attempt=1, pid=9, started_at=940.0)
        await controller.engine.commit(Reported(node=DESK, report=report))
        job = controller.state.jobs[JobId(1)]
        for step_s in (86400.0, -90000.0):
            ahead_s[0] += step_s
            controller.engine._pass_time()
            elapsed_s = controller.state.runtimes.elapsed_s(job, controller.now())
            assert elapsed_s is not None
            assert 60 <= elapsed_s < 120
            assert controller.state.ledger.week_hours_of_owner("ann", controller.now()) < 0.1

    run(tmp_path, story)


def test_mode_reservations_and_history_survive_a_restart_and_a_failed_commit(tmp_path: Path) -> None:
    reservation = Reservation(
        id=1, owner="bob", node=DESK, gpus=(GpuUuid("G0"),), begins_at=9000.0, ends_at=9900.0, by="ann"
    )

    async def first(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        started = JobStarted(job=JobId(1), attempt=1, pid=9, started_at=1000.0)
        await controller.engine.commit(Reported(node=DESK, report=started))
        controller.engine._clock = lambda: 4600.0
        await controller.engine.commit(exited(1), ReservationMade(reservation=reservation))
        await controller.engine.commit(QueuePaused(by="ann", reason="tea"))

    def check(controller: Controller) -> None:
        assert controller.state.mode == Mode(is_paused=True, by="ann", reason="tea", since=4600.0)
        assert controller.state.reservations == {1: reservation}
        assert controller.state.ledger.week_hours_of_owner("ann", 4600.0) == pytest.approx(1.0)
        assert controller.state.runtimes.expected_s(specs().specs[0]) == 1.0

    async def second(controller: Controller, _: RecordingFleet) -> None:
        check(controller)
        controller.engine._reload()
        check(controller)

    run(tmp_path, first)
    run(tmp_path, second)


def test_the_gpu_usage_of_a_job_is_counted_until_its_end(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        now = 1000.0
        controller.engine._clock = lambda: now
        await submit(controller, specs())
        started = JobStarted(job=JobId(1), attempt=1, pid=9, started_at=1000.0)
        await controller.engine.commit(Reported(node=DESK, report=started))
        process = GpuProcess(pid=9, job=1, memory_bytes=5)
        reading = GpuReading(index=0, uuid="G0", utilization=80, power_w=200.0, processes=[process])
        controller.readings.take(DESK, [reading], None, None)
        now = 1010.0
        ending = asyncio.ensure_future(controller.engine.commit(exited(1)))
        await asyncio.sleep(0)
        usage = Viewer(controller).usage(controller.jobs([1])[0])
        expected = Usage(1, 5, 80.0, 2000.0, held_s=10.0, measured_s=10.0, used_s=8.0)
        assert usage == expected, "while it is being written, whether or not it is on disk already"
        await ending
        assert controller.store.reader.usage(1) == Viewer(controller).usage(controller.jobs([1])[0]) == expected
        assert (controller.usage.attempts, controller.usage.being_written) == ({}, {})

    run(tmp_path, story)


def test_a_job_is_stopped_with_its_own_signal(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        spec = replace(specs().specs[0], signal=10, grace_s=3.0)
        await submit(controller, JobsSubmitted(specs=(spec,)))
        assert controller.signal_now(StopAsked(job=JobId(1), by="ann"))
        sent = [(frame["signal"], frame["grace_s"]) for frame in fleet.frames("signal")]
        assert sent == [(10, 3.0)]

    run(tmp_path, story)
