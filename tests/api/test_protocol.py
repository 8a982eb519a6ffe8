"""Limits on connections, heads and slow requests, on a real socket."""

import asyncio
import json
import select
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tarmac.api import protocol
from tarmac.api.admission import Admission
from tarmac.api.app import build_app
from tarmac.api.server import Server
from tarmac.controller.settings.settings import Settings
from tarmac.shared.system import sockets

WITHIN_S = 20
STATUS = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: tarmac\r\n\r\n"
LASTING = b"GET /last HTTP/1.1\r\nHost: tarmac\r\n\r\n"
POST = b"POST /api/v1/jobs/kill HTTP/1.1\r\nHost: tarmac\r\nContent-Type: application/json\r\n"


class Bare:
    """A controller that only answers what needs none."""

    settings = Settings({}, {})
    degraded = None
    is_ending = False

    fleet = ()


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        try:
            await self.writer.drain()
        except ConnectionError:
            pass  # refused meanwhile

    async def answer(self) -> tuple[int, Any]:
        """The status and the decoded body of one answer; 0 if the connection ended without one."""
        async with asyncio.timeout(WITHIN_S):
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return 0, None
            fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:] if ": " in line)
            body = await self.reader.readexactly(int(fields["content-length"]))
            return int(head.split()[1]), json.loads(body)

    async def key(self) -> tuple[int, str]:
        status, body = await self.answer()
        return status, "" if body is None else body["error"]["key"]

    async def is_closed(self) -> bool:
        """True once the server has closed the connection."""
        async with asyncio.timeout(WITHIN_S):
            try:
                return await self.reader.read(1) == b""
            except ConnectionError:
                return True


Connect = Callable[[], Awaitable[Client]]


def serve(folder: Path, story: Callable[[Connect], Awaitable[None]], *, most: int = 1000, app: Any = None) -> None:
    """Run the story against a server, which must end at once afterwards, with connections open."""

    async def run() -> None:
        path = str(folder / "sock")
        controller: Any = Bare()
        server = Server(app or build_app(controller, lambda: None), Admission(most))
        serving = asyncio.create_task(server.serve(sockets=[sockets.listen(path)]))
        opened: list[Client] = []

        async def connect() -> Client:
            opened.append(Client(*await asyncio.open_unix_connection(path, limit=1 << 22)))
            return opened[-1]

        try:
            await story(connect)
        finally:
            server.end()
            async with asyncio.timeout(protocol.HEAD_WITHIN_S + WITHIN_S):
                await serving
            for client in opened:
                client.writer.close()

    uvloop.run(run())


def test_a_request_is_answered_and_the_connection_stays(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        for _ in range(3):
            await client.send(STATUS)
            assert (await client.answer())[0] == 200

    serve(tmp_path, story)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: y\r\n" % number for number in range(101)) + b"\r\n",
        b"GET / HTTP/1.1\r\n" + b"X" * 70_000 + b": y\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 2_000_000,
        b"GET /?" + b"x" * 2_000_000,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200_000,
    ],
)
def test_a_head_that_is_too_large_is_refused_before_it_ends(tmp_path: Path, head: bytes) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        await client.send(head)
        assert await client.key() == (431, "request.head_too_large")
        assert await client.is_closed()

    serve(tmp_path, story)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"GET http:// HTTP/1.1\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\n\r\n",
        b"CONNECT tarmac:80 HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX : y\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: a\0b\r\n\r\n",
        b"GET / HTTP/1.1\r\n: y\r\n\r\n",
        POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"x" * 1_000_000,
        POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: " + b"x" * 1_000_000,
    ],
)
def test_what_is_not_http_is_refused_and_disconnected(tmp_path: Path, nonsense: bytes) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        await client.send(nonsense)
        status, _ = await client.key()
        assert 400 <= status < 500
        assert await client.is_closed()

    serve(tmp_path, story)


def test_a_trailer_is_not_a_header(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        chunked = POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\nTarmac-Api: x\r\n\r\n"
        await client.send(chunked)
        assert await client.key() == (400, "request.wrong_fields")
        await client.send(STATUS)
        assert (await client.answer())[0] == 200

    serve(tmp_path, story)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_REQUEST_WITHIN_S", "HEAD_WITHIN_S", "BODY_LOOK_EVERY_S", "CROWDED_WITHIN_S"):
        monkeypatch.setattr(protocol, name, 0.2)
    monkeypatch.setattr(protocol, "ANSWER_TAKEN_WITHIN_S", 0.2)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("start", [b"G", b"GET / HTTP/1.1\r\nHost: tar", b"GET / HTTP/1.1\r\nHost: tarmac\r\n"])
def test_a_head_that_does_not_end_is_refused_even_if_it_goes_on(tmp_path: Path, start: bytes) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()

        async def drip() -> None:
            await client.send(start)
            while True:
                await asyncio.sleep(0.05)
                await client.send(b"x")

        dripping = asyncio.create_task(drip())
        assert (await client.key())[0] in {400, 408}
        assert await client.is_closed()
        dripping.cancel()

    serve(tmp_path, story)


@pytest.mark.usefixtures("impatient")
def test_empty_lines_do_not_keep_a_connection(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()

        async def drip() -> None:
            while True:
                await client.send(b"\r\n")
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        assert await client.key() == (408, "request.too_slow")
        dripping.cancel()

    serve(tmp_path, story)


@pytest.mark.usefixtures("impatient")
def test_a_connection_without_a_request_is_closed(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        assert await (await connect()).is_closed()

    serve(tmp_path, story)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "start",
    [b"Content-Length: 100\r\n\r\n{", b"Content-Length: 5\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
)
def test_a_body_that_does_not_come_is_refused(tmp_path: Path, start: bytes) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        await client.send(POST + start)
        assert await client.key() == (408, "request.too_slow")
        assert await client.is_closed()

    serve(tmp_path, story)


@pytest.mark.usefixtures("impatient")
def test_a_large_body_that_makes_progress_is_read(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        await client.send(POST + b"Content-Length: 400002\r\n\r\n")
        for _ in range(8):
            await client.send(b" " * 50_000)
            await asyncio.sleep(0.06)
        await client.send(b"[]")
        assert await client.key() == (400, "request.wrong_fields")

    serve(tmp_path, story)


@pytest.mark.usefixtures("impatient")
def test_a_client_that_does_not_take_its_answer_is_disconnected(tmp_path: Path) -> None:

    async def app(_: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
        await send({"type": "http.response.body", "body": b"x" * 10_000_000})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def story(connect: Connect) -> None:
        client = await connect()
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await client.send(STATUS)
        hang_up = select.poll()
        hang_up.register(client.writer.get_extra_info("socket").fileno(), 0)
        async with asyncio.timeout(WITHIN_S):
            while not hang_up.poll(0):  # noqa: ASYNC110 - the client does not read
                await asyncio.sleep(0.01)
        client.writer.transport.resume_reading()  # type: ignore[attr-defined]
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            async with asyncio.timeout(WITHIN_S):
                await client.reader.readexactly(10_000_000)

    serve(tmp_path, story, app=app)


def test_many_pipelined_requests_are_not_kept(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        await client.send(STATUS * 5000)
        answered = 0
        while (await client.answer())[0] == 200:
            answered += 1
        assert answered < 5000

    serve(tmp_path, story)


def test_a_few_pipelined_requests_are_answered_in_order(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        await client.send(STATUS + STATUS.replace(b"openapi.json", b"nope") + STATUS)
        assert [(await client.answer())[0] for _ in range(3)] == [200, 404, 200]

    serve(tmp_path, story)


def test_an_upgrade_is_ignored(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        client = await connect()
        await client.send(STATUS[:-2] + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert (await client.answer())[0] == 200

    serve(tmp_path, story)


def test_one_peer_leaves_places_for_others_and_for_short_requests(tmp_path: Path) -> None:
    """Of 32 places, 4 are for other peers; of the 28 of this peer, 7 are for short requests."""

    arrived: asyncio.Queue[bool] = asyncio.Queue()  # whether a lasting request began or ended

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/last":
            arrived.put_nowait(True)
            while (await receive())["type"] != "http.disconnect":
                pass
            arrived.put_nowait(False)
        else:
            await ordinary(scope, receive, send)

    async def story(connect: Connect) -> None:
        lasting = []
        for number in range(28):
            if number == 21:
                short = await connect()
                await short.send(b"GET /api/v1/events HTTP/1.1\r\nHost: tarmac\r\n\r\n")
                assert await short.key() == (503, "server.crowded")
                assert await short.is_closed()
            lasting.append(await connect())
            await lasting[-1].send(LASTING)
            assert await arrived.get()
        refused = await connect()
        assert await refused.key() == (503, "server.too_many_connections")
        assert await refused.is_closed()
        lasting.pop().writer.close()
        assert not await arrived.get()
        assert await _status(await connect()) == 200

    ordinary = build_app(Bare(), lambda: None)  # type: ignore[arg-type]
    serve(tmp_path, story, most=32, app=app)


async def _status(client: Client) -> int:
    await client.send(STATUS)
    return (await client.answer())[0]


@pytest.mark.parametrize("start", [b"", b"GET /", STATUS])
def test_connections_without_a_request_give_way_to_new_ones(tmp_path: Path, start: bytes) -> None:
    async def story(connect: Connect) -> None:
        for _ in range(100):
            await (await connect()).send(start)
        assert await _status(await connect()) == 200

    serve(tmp_path, story, most=32)


class Idler:
    def evict(self) -> None:
        raise AssertionError("it was never said to be idle")


def test_other_peers_are_admitted_while_one_has_all_its_places() -> None:
    admission = Admission(32)
    mine = [admission.enter(1000, 9).value for _ in range(40)]
    assert mine == ["ordinary"] * 21 + ["short"] * 7 + ["none"] * 12
    assert [admission.enter(0, 9).value for _ in range(5)] == ["ordinary"] * 4 + ["none"]
    for _ in range(28):
        admission.leave(1000, Idler())
    assert admission.enter(1000, 9).value == "ordinary"


def test_an_end_does_not_wait_for_requests_that_do_not_arrive(tmp_path: Path) -> None:
    async def story(connect: Connect) -> None:
        for start in (b"", b"GET / HT", POST + b"Content-Length: 9\r\n\r\n{", STATUS):
            await (await connect()).send(start)
            sent.append(start)

    sent: list[bytes] = []
    serve(tmp_path, story)  # returns once the server has ended
    assert sent[-1] == STATUS
