"""Bodies that are being read cannot fill the memory, and one user cannot take what others need."""

import asyncio
from typing import Any

import pytest
from starlette.datastructures import Headers

from tarmac.api import body
from tarmac.api.body import BodyReader
from tarmac.api.routes.table import ROUTES
from tarmac.refusal import Refused

KILL = next(route for route in ROUTES if route.path == "/jobs/kill")
ANN, BOB, EVE = 1001, 1002, 1003


class Upload:
    """A request whose body has arrived in part. `finish` sends the end."""

    def __init__(self, reader: BodyReader, uid: int, size: int) -> None:
        self._chunks: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._chunks.put_nowait({"type": "http.request", "body": b" " * size, "more_body": True})
        self.task = asyncio.create_task(reader.read(KILL, Headers({}), self._chunks.get, uid))

    async def is_accepted(self) -> bool:
        """Whether the reader waits for more."""
        for _ in range(5):  # the chunk is there already
            await asyncio.sleep(0)
        return not self.task.done()

    async def finish(self) -> str:
        self._chunks.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        with pytest.raises(Refused) as caught:
            await self.task
        return caught.value.key


def test_many_bodies_of_one_user_take_half_of_the_budget_and_leave_the_rest_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(body, "MOST_AT_ONCE_BYTES", 1 << 20)
    size = 1 << 17

    async def story() -> None:
        reader = BodyReader()
        of_ann = [Upload(reader, ANN, size) for _ in range(6)]
        assert [await upload.is_accepted() for upload in of_ann] == [True] * 4 + [False] * 2
        of_bob = [Upload(reader, BOB, size) for _ in range(6)]
        assert [await upload.is_accepted() for upload in of_bob] == [True] * 4 + [False] * 2
        assert not await Upload(reader, EVE, size).is_accepted(), "all of it is taken"
        assert await of_ann[4].finish() == "server.too_many_bodies"
        assert await of_ann[0].finish() != "server.too_many_bodies"
        assert await Upload(reader, ANN, size).is_accepted(), "what a body took is returned"

    asyncio.run(story())


def test_a_small_body_is_read_even_if_the_budget_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "MOST_AT_ONCE_BYTES", 1 << 18)

    async def story() -> None:
        reader = BodyReader()
        assert await Upload(reader, ANN, 1 << 17).is_accepted()
        assert await Upload(reader, ANN, body.SMALL_BYTES).is_accepted()
        assert not await Upload(reader, ANN, body.SMALL_BYTES + 1).is_accepted()

    asyncio.run(story())
