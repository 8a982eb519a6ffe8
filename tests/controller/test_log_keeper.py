"""When logs are looked at, and what is remembered of their sizes."""

from pathlib import Path

import pytest

from tarmac.controller.controller import Controller
from tarmac.controller.log_keeper import (
    AGAIN_AFTER_MOST_S,
    AGAIN_CAPPED_S,
    FIRST_S,
    MOST_MARKS,
    SOONEST_S,
    _again_after_s,
    _Watched,
)
from tarmac.core.events import JobStarted, NodeJoined, NodeLeft, Reported
from tarmac.core.model.ids import JobId, NodeName
from tests.controller.engine.desk import DESK, RecordingFleet, run, specs, submit


def watched() -> _Watched:
    return _Watched(began=0.0, due=0.0, node=NodeName("box"), is_capped=True)


def test_a_size_is_that_of_the_last_look_before() -> None:
    file = watched()
    for at, size in ((10.0, 100), (20.0, 200), (30.0, 200), (40.0, 300)):
        file.note(at, size)
    assert [file.size_at(at) for at in (5.0, 10.0, 19.0, 25.0, 31.0, 40.0, 99.0)] == [0, 100, 100, 100, 200, 300, 300]


def test_many_looks_are_thinned_out() -> None:
    file = watched()
    for number in range(10_000):
        file.note(float(number), number)
        assert len(file.times) == len(file.sizes) <= MOST_MARKS
    assert file.size_at(9999.0) == 9999
    for at in range(100, 9999, 97):
        assert at - 400 <= file.size_at(at) <= at, "to a few per cent of the time it has been running"


@pytest.mark.parametrize(
    ("elapsed_s", "rate", "limit", "after_s"),
    [
        (0.0, 1e9, 0, FIRST_S),
        (86400.0, 0.0, 0, AGAIN_AFTER_MOST_S),
        (86400.0, 0.0, 10**9, AGAIN_CAPPED_S),
        (1.0, 1e9, 10**9, 0.25),
        (1.0, 1e9, 10**6, SOONEST_S),
    ],
)
def test_a_log_that_grows_towards_its_cap_is_looked_at_often(
    elapsed_s: float, rate: float, limit: int, after_s: float
) -> None:
    assert _again_after_s(elapsed_s, rate, limit) == pytest.approx(after_s)


STARTED = JobStarted(job=JobId(1), attempt=1, pid=9, started_at=1000.0)


def test_a_node_that_was_away_for_a_moment_leaves_the_marks_of_its_logs(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        await controller.engine.commit(Reported(node=DESK, report=STARTED))
        keeper = controller.log_keeper
        keeper._refresh()
        (file,) = keeper._watched
        keeper._watched[file].note(500.0, 12345)
        await controller.engine.commit(NodeLeft(node=DESK))
        keeper._refresh()
        assert keeper._watched == {}
        await controller.engine.commit(NodeJoined(node=DESK, cpu_job_slots=4, runs=(STARTED,)))
        keeper._refresh()
        assert keeper.offset_at(controller.state.jobs[JobId(1)], 1, file.path, 600.0) == 12345
        assert keeper._ended == {}

    run(tmp_path, story)


def test_a_log_that_cannot_be_looked_at_is_not_asked_for_again_at_once(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        async def fail(*_: object) -> dict[str, object]:
            raise ValueError("an answer of another version")

        await submit(controller, specs())
        await controller.engine.commit(Reported(node=DESK, report=STARTED))
        keeper = controller.log_keeper
        keeper._refresh()
        (watched,) = keeper._watched.values()
        keeper._fleet.ask = fail  # type: ignore[method-assign,assignment]
        with pytest.raises(ValueError, match="another version"):
            await keeper._ask(next(iter(keeper._watched)), watched)
        assert watched.due > watched.began + SOONEST_S
        assert not watched.is_asked

    run(tmp_path, story)
