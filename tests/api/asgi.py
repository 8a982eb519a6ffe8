"""The API in this process: a controller without a node, and requests that go through the whole application."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from starlette.types import ASGIApp

from tarmac.api.app import build_app
from tarmac.api.auth import Guard, authenticate
from tarmac.api.protocol import PEER_UID
from tarmac.api.route import PREFIX
from tarmac.controller.controller import Controller
from tarmac.controller.requests.permissions import Caller, is_admin
from tarmac.controller.settings.settings import Settings
from tarmac.core.events import GpusSeen, JobsSubmitted, NodeJoined
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.store.environments.environments import pack_environment
from tarmac.store.store import Store
from tests.core.support.builders import a_spec

AS_JSON = {"Content-Type": "application/json"}
DIGEST, BODY = pack_environment({})


def named(name: str) -> Guard:
    """Admits every connection under that name."""
    return lambda _, settings: Caller(name=name, uid=1001, is_admin=is_admin(name, settings))


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


async def send(
    controller: Any,
    method: str,
    path: str,
    chunks: Iterable[bytes | None] = (),
    *,
    guard: Guard = authenticate,
    uid: int = 0,
    headers: Mapping[str, str] | None = None,
    app: ASGIApp | None = None,
) -> Answer | None:
    """The answer to one request, or None. The body comes in chunks; None as a chunk is a disconnect."""
    sent: list[dict[str, Any]] = []
    pending: Iterator[bytes | str | None] = iter([*chunks, b""])

    async def receive() -> dict[str, Any]:
        chunk = next(pending, "")
        if chunk == "":
            await asyncio.Event().wait()  # the client stays and reads a stream
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": bool(chunk)}

    async def collect(message: Any) -> None:
        sent.append(message)

    address, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": PREFIX + address,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in (AS_JSON | dict(headers or {})).items()],
        "extensions": {PEER_UID: uid},
    }
    await (app or build_app(controller, lambda: None, guard))(scope, receive, collect)
    if not sent:
        return None
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], answered, b"".join(message.get("body", b"") for message in sent))


async def ask(
    controller: Any, method: str, path: str, body: Any = None, *, guard: Guard = authenticate, uid: int = 0
) -> tuple[int, Any]:
    """The status and the decoded body of the answer."""
    chunks = () if body is None else (json.dumps(body).encode(),)
    answer = await send(controller, method, path, chunks, guard=guard, uid=uid)
    assert answer is not None
    return answer.status, json.loads(answer.body)


def with_controller(folder: Path, story: Callable[[Controller], Awaitable[None]]) -> None:
    """Runs the story on a controller with one GPU and job 1, ann's, which is held. eve is an admin."""

    async def run() -> None:
        (folder / "logs").mkdir()
        store = Store(folder / "tarmac.db")
        rules = Settings({}, {"admins": "eve"})
        controller = Controller(
            store=store, settings=rules, state_folder=folder, home=NodeName("desk"), clock=lambda: 1000.0
        )
        controller.engine.post(NodeJoined(node=NodeName("desk"), cpu_job_slots=4, runs=()))
        controller.engine.post(GpusSeen(node=NodeName("desk"), gpus=(Gpu(uuid=GpuUuid("G0"), index=0),)))
        specs = (a_spec(owner="ann", environment=DIGEST),)
        await controller.submissions.submit(JobsSubmitted(specs=specs, entry="held", by="ann"), {DIGEST: BODY}, None)
        try:
            await story(controller)
        finally:
            store.close()

    asyncio.run(run())
