"""Every answer about when a job starts or ends says the same: lists, `show`, `why`, and each GPU, in random states."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tarmac.api.views.job import Viewer
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.times import at_clock, iso
from tarmac.api.wording.why.why import why_view
from tarmac.controller.controller import Controller
from tarmac.controller.progress.parser import Progress
from tarmac.controller.progress.reader import attempt_of
from tarmac.controller.progress.track import new_track
from tarmac.controller.settings.settings import Settings
from tarmac.core.events import GpusSeen, JobsHeld, NodeJoined, QueuePaused, ReservationMade
from tarmac.core.forecast.expected_end import expected_end
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.plan import VAGUE
from tarmac.core.model.queue import Reservation
from tarmac.core.model.status import Queued, Running
from tarmac.store.store import Store
from tests.core.support.builders import BOX, a_spec, numbered_gpus
from tests.core.support.scene import Scene


def a_scene(chance: random.Random) -> Scene:
    scene = Scene(
        gpus=chance.randint(1, 4), is_backfilling=chance.random() < 0.7, starvation_s=chance.choice([1.0, 1e6])
    )
    if chance.random() < 0.3:
        second = NodeName("second")
        scene.happen(NodeJoined(node=second, cpu_job_slots=2, runs=()))
        scene.happen(GpusSeen(node=second, gpus=numbered_gpus(chance.randint(1, 4), second)))
    for number in range(chance.randint(2, 24)):
        spec = a_spec(
            owner=chance.choice(["ann", "bob"]),
            gpus=chance.randint(0, 3),
            name=chance.choice([f"job {number}", "train"]),
            time_limit_s=chance.choice([None, 60.0, 7200.0]),
            begin_at=chance.choice([None, None, scene.now + 500.0]),
        )
        scene.submit(spec)
        if chance.random() < 0.8:
            scene.begin()
        if scene.at_work() and chance.random() < 0.2:
            scene.stop(chance.choice(scene.at_work()))
        if chance.random() < 0.5:
            scene.pass_s(chance.choice([10.0, 600.0, 5000.0]))
        if running := [one for one in scene.at_work() if scene.state_of(one) == "running" and chance.random() < 0.5]:
            scene.finish(chance.choice(running))
    if chance.random() < 0.2:
        scene.happen(QueuePaused(by="ann"))
    if chance.random() < 0.3:
        gpus = (GpuUuid(chance.choice(list(scene.state.nodes[BOX].gpus))),)
        times = {"begins_at": scene.now, "ends_at": scene.now + 300.0}
        scene.happen(
            ReservationMade(reservation=Reservation(id=1, owner="cat", node=BOX, gpus=gpus, by="root", **times))
        )
    waiting = [job for job in scene.state.jobs.values() if isinstance(job.status, Queued)]
    if waiting and chance.random() < 0.2:
        scene.happen(JobsHeld(jobs=(chance.choice(waiting).id,), by="ann"))
    return scene


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("agreement")


@pytest.mark.parametrize("seed", range(120))
def test_all_answers_agree(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    scene = a_scene(chance)

    async def compare() -> list[int]:
        store = Store(folder / "tarmac.db")
        now = scene.now
        controller = Controller(
            store=store,
            settings=Settings({}, {}),
            state_folder=folder,
            home=NodeName("desk"),
            clock=lambda: now,
        )
        controller.engine.state = scene.state
        controller.engine.generation += 1
        for job in scene.state.jobs.values():
            if isinstance(job.status, Running) and chance.random() < 0.5:
                half = Progress(fraction=0.5, eta_s=900.0)
                track = new_track(half, asyncio.get_running_loop().time(), has_older_output=False)
                controller.progress._known[attempt_of(job)] = track
        try:
            numbers = [int(job.id) for job in scene.state.jobs.values()]
            for number in numbers:
                expect_one_answer(controller, number, now)
            return numbers
        finally:
            store.close()

    assert asyncio.run(compare()), "some jobs were compared"


def expect_one_answer(controller: Controller, number: int, now: float) -> None:
    job = controller.state.jobs[JobId(number)]
    listed, shown, why = (
        Viewer(controller).job(job),
        Viewer(controller, is_fresh=True).whole_job(job),
        why_view(controller, job),
    )
    assert listed.estimated_start == shown.estimated_start == why.estimated_start
    assert listed.estimate_basis == shown.estimate_basis == why.estimate_basis
    if isinstance(job.status, Queued):
        assert listed.reason, "a waiting job has a reason"
        assert why.reasons
        (last,) = why.lines[-1:]
        estimate = controller.forecast.now().estimates.get(job.id)
        if estimate is None:
            assert last == say("why.no_estimate")
        else:
            assert at_clock(estimate.start_at, now) in last
            kinds = {reason["kind"] for reason in why.reasons}
            assert estimate.rests_on or kinds == {"about_to_start"}, "free now, but something keeps it from starting"
            is_late = "stop" in estimate.rests_on  # its GPUs come free any moment: the grace period is over
            assert not estimate.rests_on & VAGUE, "too vague for people"
            assert "kept_for" not in kinds or estimate.start_at > now or is_late
            assert job.spec.begin_at is None or estimate.start_at >= job.spec.begin_at
    for gpu in why.gpus:
        ends = [
            expected_end(controller.state, controller.state.jobs[JobId(one)], now, controller.forecast.now().progress)
            for one in gpu.jobs
        ]
        known = [end.at for end in ends if end is not None]
        assert gpu.until == (iso(max(known)) if known and len(known) == len(ends) else None)
    for reason in why.reasons:
        if reason["kind"] == "kept_for" and reason["job"] in controller.forecast.now().estimates:
            assert reason["at"] == controller.forecast.now().estimates[JobId(reason["job"])].start_at
