"""uvicorn on our socket, with two additions: it reports who the peer is, and it does not wake up while idle."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from collections.abc import Generator

    from starlette.types import ASGIApp

PEER_UID = "tarmac.peer_uid"
ABORT = "tarmac.abort"  # resets the connection
CLOSE_WITHIN_S = 2
_CREDENTIALS = struct.Struct("3i")


class PeerProtocol(HttpToolsProtocol):
    """Asks the kernel who connected and puts the uid into the request's scope, out of the client's reach."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self._peer_uid = _CREDENTIALS.unpack(packed)[1]

    def on_message_begin(self) -> None:
        super().on_message_begin()
        extensions: dict[str, Any] = {PEER_UID: self._peer_uid, ABORT: self.transport.abort}
        self.scope["extensions"] = extensions


class Server(uvicorn.Server):
    """Waits for `end()` instead of polling ten times a second, and leaves signals to its caller."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=PeerProtocol,
                ws="none",
                loop="none",
                log_config=None,
                access_log=False,
                date_header=False,
                server_header=False,
                timeout_graceful_shutdown=CLOSE_WITHIN_S,
                lifespan="off",
            )
        )
        self._ended = asyncio.Event()

    def end(self) -> None:
        self.should_exit = True
        self._ended.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Do nothing: uvicorn would raise the signals again after its end and skip the rest of our shutdown."""
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._ended.wait()
