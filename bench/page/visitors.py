"""`python -m bench.page.visitors HOST COOKIE COUNT`: does what COUNT open pages do, until its input ends.

Each reads the lists of the overview, and follows the event stream.
"""

import asyncio
import sys

LISTS = ["/jobs/recent?ended=300&waiting=500", "/gpus", "/queue", "/groups?limit=1000"]


class Visitor:
    def __init__(self, host: str, cookie: str) -> None:
        self._host = host
        self._head = f"Host: {host}\r\nCookie: {cookie}\r\nAccept-Language: en\r\nTarmac-Zone: Europe/Berlin\r\n\r\n"
        self.heard = 0

    async def begin(self) -> None:
        """Open the stream and read the lists."""
        self._events, self._stream = await self._connect()
        self._stream.write(self._request("/events?live=1"))
        self._reader, self._writer = await self._connect()
        for path in LISTS:
            await self._ask(path)

    async def stay(self) -> None:
        while data := await self._events.read(1 << 18):
            self.heard += len(data)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, _, port = self._host.partition(":")
        return await asyncio.open_connection(host, int(port), limit=1 << 22)

    def _request(self, path: str) -> bytes:
        return f"GET /api/v1{path} HTTP/1.1\r\n{self._head}".encode()

    async def _ask(self, path: str) -> None:
        self._writer.write(self._request(path))
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await self._reader.readexactly(length)


async def main(host: str, cookie: str, count: int) -> None:
    visitors = [Visitor(host, cookie) for _ in range(count)]
    for visitor in visitors:
        await visitor.begin()
    staying = [asyncio.create_task(visitor.stay()) for visitor in visitors]
    print("ready", flush=True)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    done, _ = await asyncio.wait([*staying, loop.create_task(ended.wait())], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()
    assert all(visitor.heard for visitor in visitors), "a page heard nothing"


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
