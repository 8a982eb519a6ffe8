"""uvicorn on our socket, with our protocol. It does not wake up while idle."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from tarmac.api import uvicorn_parts
from tarmac.api.admission import Admission, places
from tarmac.api.protocol import BoundedProtocol

if TYPE_CHECKING:
    from collections.abc import Generator

    from starlette.types import ASGIApp

CLOSE_WITHIN_S = 2


class Server(uvicorn_parts.Server):
    """Waits for `end()` instead of polling ten times a second, and leaves signals to its caller."""

    def __init__(
        self, app: ASGIApp, admission: Admission | None = None, protocol: type[BoundedProtocol] = BoundedProtocol
    ) -> None:
        http: Any = partial(protocol, admission=admission or Admission(places()))
        super().__init__(
            uvicorn_parts.Config(
                app,
                http=http,
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
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # clients could fill the log

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
