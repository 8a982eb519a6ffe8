"""What is refused to those who are no admins: other people's jobs, and the queue as a whole."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tarmac.api import schemas
from tarmac.api.routes import edit, hold, jobs, queue, reservations, settings
from tarmac.controller.engine import Engine
from tarmac.controller.publisher import Publisher
from tarmac.controller.settings.settings import Settings
from tarmac.controller.submit.request import EditRequest, JobRequest, SubmitRequest
from tarmac.core.events import GpusSeen, JobsSubmitted, NodeJoined
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.errors import NotAllowed
from tarmac.nodes.fleet import Fleet
from tarmac.store.rows import pack_environment
from tarmac.store.store import Store
from tests.core.support.builders import a_spec

DESK = NodeName("desk")
DIGEST, BODY = pack_environment({})
ONE = schemas.Selection(ids=["1"])
URGENT = SubmitRequest(cwd="/", jobs=[JobRequest(command=("true",), tier="urgent")])

Act = Callable[[Engine, str], Awaitable[Any]]

TO_A_JOB: dict[str, Act] = {
    "hold": lambda engine, caller: hold.hold_jobs.fn(engine, caller, ONE),
    "release": lambda engine, caller: hold.release_jobs.fn(engine, caller, ONE),
    "move": lambda engine, caller: hold.move_job.fn(engine, caller, "1", schemas.MoveRequest(position=1)),
    "edit many": lambda engine, caller: edit.edit_jobs.fn(
        engine, caller, schemas.EditManyRequest(ids=["1"], changes=EditRequest(priority=1))
    ),
    "edit": lambda engine, caller: edit.edit_job.fn(engine, caller, "1", EditRequest(priority=1)),
    "kill": lambda engine, caller: jobs.kill_jobs.fn(engine, caller, schemas.KillRequest(ids=["1"])),
    "rm": lambda engine, caller: jobs.remove_jobs.fn(engine, caller, ONE),
}
TO_THE_QUEUE: dict[str, Act] = {
    "start": lambda engine, caller: hold.start_job.fn(engine, caller, "1", schemas.StartRequest()),
    "pause": lambda engine, caller: queue.pause_queue.fn(engine, caller, schemas.QueueRequest()),
    "drain": lambda engine, caller: queue.drain_queue.fn(engine, caller, schemas.QueueRequest()),
    "resume": lambda engine, caller: queue.resume_queue.fn(engine, caller, schemas.QueueRequest()),
    "stop": lambda engine, caller: queue.stop_queue.fn(engine, caller, schemas.QueueStopRequest(requeue=True)),
    "reserve": lambda engine, caller: reservations.make_reservation.fn(
        engine, caller, schemas.ReservationRequest(gpus=1, from_=1000.0, for_s=60.0)
    ),
    "set": lambda engine, caller: settings.change_setting.fn(
        engine, caller, "grace_s", schemas.SettingRequest(value="5")
    ),
    "reset": lambda engine, caller: settings.reset_setting.fn(engine, caller, "grace_s"),
    "urgent": lambda engine, caller: jobs.submit.fn(engine, caller, URGENT),
    "make many urgent": lambda engine, caller: edit.edit_jobs.fn(
        engine, caller, schemas.EditManyRequest(ids=["1"], changes=EditRequest(tier="urgent"))
    ),
    "make urgent": lambda engine, caller: edit.edit_job.fn(engine, caller, "1", EditRequest(tier="urgent")),
}


def told(folder: Path, story: Callable[[Engine], Awaitable[None]]) -> None:
    """With a job of ann's that is held."""

    async def run() -> None:
        (folder / "logs").mkdir()
        store = Store(folder / "tarmac.db")
        rules = Settings({}, {"admins": "eve"})
        engine = Engine(
            store=store, settings=rules, state_folder=folder, publisher=Publisher(), fleet=Fleet(), clock=lambda: 1000.0
        )
        engine.post(NodeJoined(node=DESK, cpu_job_slots=4, runs=()))
        engine.post(GpusSeen(node=DESK, gpus=(Gpu(uuid=GpuUuid("G0"), index=0),)))
        specs = (a_spec(owner="ann", environment=DIGEST),)
        await engine.submit(JobsSubmitted(specs=specs, entry="held", by="ann"), {DIGEST: BODY}, None)
        try:
            await story(engine)
        finally:
            store.close()

    asyncio.run(run())


@pytest.mark.parametrize("act", [*TO_A_JOB, *TO_THE_QUEUE])
def test_a_stranger_is_refused_and_nothing_happens(tmp_path: Path, act: str) -> None:
    async def story(engine: Engine) -> None:
        before = engine.job(1)
        generation = engine.generation
        with pytest.raises(NotAllowed) as caught:
            await {**TO_A_JOB, **TO_THE_QUEUE}[act](engine, "mallory")
        assert caught.value.status == 403
        assert caught.value.hint
        assert (engine.job(1), engine.generation) == (before, generation)

    told(tmp_path, story)


@pytest.mark.parametrize("act", ["hold", "release", "edit", "kill", "rm"])
def test_everybody_acts_on_their_own_jobs(tmp_path: Path, act: str) -> None:
    async def story(engine: Engine) -> None:
        if act == "hold":  # of which there is nothing to do for one that is held
            await TO_THE_QUEUE["pause"](engine, "eve")
            await TO_A_JOB["release"](engine, "ann")
        before = engine.generation
        await TO_A_JOB[act](engine, "ann")
        assert engine.generation > before, "it was done"

    told(tmp_path, story)


@pytest.mark.parametrize("act", ["release", "edit", "kill", "rm", *TO_THE_QUEUE])
def test_an_admin_acts_on_everything(tmp_path: Path, act: str) -> None:
    async def story(engine: Engine) -> None:
        before = engine.generation
        await {**TO_A_JOB, **TO_THE_QUEUE}[act](engine, "eve")
        assert engine.generation > before, "it was done"

    told(tmp_path, story)


def test_a_reservation_is_ended_by_its_owner_or_an_admin(tmp_path: Path) -> None:
    async def story(engine: Engine) -> None:
        asked = schemas.ReservationRequest(gpus=1, from_=1000.0, for_s=60.0, user="bob")
        made = await reservations.make_reservation.fn(engine, "eve", asked)
        with pytest.raises(NotAllowed, match="is for bob"):
            await reservations.end_reservation.fn(engine, "mallory", made.id)
        await reservations.end_reservation.fn(engine, "bob", made.id)
        assert engine.state.reservations == {}

    told(tmp_path, story)
