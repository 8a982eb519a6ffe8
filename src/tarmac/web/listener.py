"""The TCP socket of the page, on loopback. It is closed until a user asks for the page."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING

from tarmac.api.server import Server
from tarmac.controller.engine.decision import Decision
from tarmac.refusal import conflict, unavailable
from tarmac.web.app import PageApp
from tarmac.web.protocol import PageProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from tarmac.controller.controller import Controller

log = logging.getLogger("tarmac.controller")

HOST = "127.0.0.1"
SETTING = "page_port"  # stored with the settings, but not set by `tarmac set`
BACKLOG = 128


class PageListener:
    """Keeps its port over restarts, so that open pages find the controller again."""

    def __init__(self, api: ASGIApp, controller: Controller) -> None:
        self._api = api
        self._controller = controller
        self._port: int | None = None
        self._server: Server | None = None
        self._serving: asyncio.Task[None] | None = None

    def resume(self) -> None:
        """After a start: listen again if anyone is logged in."""
        port = self._stored_port()
        if port is not None and self._controller.page_sessions.are_any:
            try:
                self._listen(port)
            except OSError as error:
                log.warning("the page is not served: port %d: %s", port, error.strerror)

    async def address(self, port: int | None) -> str:
        """Where the page is. Without a port: the one of last time, or any."""
        if self._port is None:
            await self._open(port)
        elif port not in {None, self._port}:
            raise conflict("page.other_port", port=self._port)
        return f"http://{HOST}:{self._port}"

    def end(self) -> None:
        if self._server is not None:
            self._server.end()

    async def ended(self) -> None:
        if self._serving is not None:
            await self._serving

    async def _open(self, port: int | None) -> None:
        for choice in [port] if port is not None else [self._stored_port(), 0]:
            if choice is not None:
                try:
                    self._listen(choice)
                    break
                except OSError as error:
                    failure = error
        else:
            raise unavailable("page.cannot_listen", port=port, error=failure.strerror)
        chosen = str(self._port)
        if chosen != self._controller.store.reader.settings().get(SETTING):
            await self._controller.engine.decide(lambda _: Decision(answer=None, settings={SETTING: chosen}))

    def _listen(self, port: int) -> None:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((HOST, port))
            listening.listen(BACKLOG)
            listening.setblocking(False)
        except OSError:
            listening.close()
            raise
        self._port = listening.getsockname()[1]
        self._server = Server(PageApp(self._api, self._controller, self._port), protocol=PageProtocol)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]))
        log.info("the page is at http://%s:%d", HOST, self._port)

    def _stored_port(self) -> int | None:
        stored = self._controller.store.reader.settings().get(SETTING)
        return None if stored is None else int(stored)
