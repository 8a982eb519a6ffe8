"""A client of the event stream, and jobs for it to hear of."""

import asyncio
from typing import Any

from tarmac.api.app import build_app
from tarmac.api.protocol import PEER_UID
from tarmac.api.route import PREFIX
from tarmac.controller.controller import Controller
from tarmac.core.events import JobsSubmitted
from tests.api.asgi import BODY, DIGEST
from tests.core.support.builders import a_spec

WITHIN_S = 20


class Stream:
    """One client of the application. `is_reading` false: what is sent is not taken."""

    def __init__(self, app: Any, query: str = "", **headers: str) -> None:
        self.text = b""
        self.is_dropped = False
        self.is_reading = asyncio.Event()
        self.is_reading.set()
        self._news = asyncio.Condition()
        self._gone = asyncio.Event()
        scope = {
            "type": "http",
            "method": "GET",
            "path": PREFIX + "/events",
            "query_string": query.encode(),
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
            "extensions": {PEER_UID: 0, "tarmac.abort": self._abort},
        }
        self.task = asyncio.create_task(app(scope, self._receive, self._send))

    async def until(self, text: bytes) -> None:
        async with asyncio.timeout(WITHIN_S), self._news:
            await self._news.wait_for(lambda: text in self.text)

    async def until_longer_than(self, size: int) -> None:
        async with asyncio.timeout(WITHIN_S), self._news:
            await self._news.wait_for(lambda: len(self.text) > size)

    async def close(self) -> None:
        self._gone.set()
        async with asyncio.timeout(WITHIN_S):
            await self.task

    def _abort(self) -> None:
        self.is_dropped = True
        self._gone.set()

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.is_reading.wait()
        async with self._news:
            self.text += message.get("body", b"")
            self._news.notify_all()


def app_of(controller: Controller) -> Any:
    return build_app(controller, lambda: None)


async def submit(controller: Controller, count: int, **spec: Any) -> list[int]:
    specs = tuple(a_spec(owner="ann", environment=DIGEST, **spec) for _ in range(count))
    event = JobsSubmitted(specs=specs, entry="held", by="ann")
    return list(await controller.submissions.submit(event, {DIGEST: BODY}, None))
