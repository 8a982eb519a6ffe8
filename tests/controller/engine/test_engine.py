"""The engine with a real database and a node that only writes down what it is told."""

import asyncio
from pathlib import Path

import pytest

from tarmac.controller.controller import Controller
from tarmac.controller.submit.submissions import Token
from tarmac.core.events import (
    GpusSeen,
    JobsSubmitted,
    JobStarted,
    NodeJoined,
    Reported,
    StopAsked,
)
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.note import note
from tarmac.core.transitions import TRANSITIONS, ImpossibleTransition
from tarmac.refusal import Refused
from tests.controller.engine.desk import DESK, RecordingFleet, broken_check, exited, run, specs, submit


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
        monkeypatch.setattr("tarmac.controller.engine.engine.RETRY_AFTER_FULL_S", 0.01)
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


def test_a_decision_thatbroken_checks_leaves_the_state_as_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs(2))
        with monkeypatch.context() as patch:
            patch.setattr("tarmac.controller.engine.engine.handle", broken_check)
            with pytest.raises(ZeroDivisionError):
                await controller.engine.commit(StopAsked(job=JobId(2), by="ann"))
        assert sorted(controller.state.jobs) == [1, 2]

    run(tmp_path, story)


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
