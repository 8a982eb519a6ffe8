"""A controller without processes: its fleet records what it sends."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from tarmac.controller.controller import Controller
from tarmac.controller.settings.settings import Settings
from tarmac.controller.submit.submissions import Token
from tarmac.core.events import (
    GpusSeen,
    JobExited,
    JobsSubmitted,
    NodeJoined,
    Reported,
)
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.state import State
from tarmac.store.environments.environments import pack_environment
from tarmac.store.store import Store

DESK = NodeName("desk")
DIGEST, BODY = pack_environment({"PATH": "/bin"})


class SentFrame(NamedTuple):
    node: NodeName
    frame: dict[str, Any]


class RecordingFleet:
    """Records the frames it is given instead of sending them."""

    async def check_liveness(self) -> None:
        """Every node answers."""

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


def broken_check(*_: object) -> None:
    raise ZeroDivisionError
