"""Accepts connections of controllers. Those that have not said hello are bounded: they hold descriptors."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Callable, List

from tarmac.agent.connection import Connection, is_allowed
from tarmac.agent.loop import Loop, log

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import ControllerFrame

_MOST_UNKNOWN = 16


class Listener:
    def __init__(
        self,
        loop: Loop,
        sock: socket.socket,
        on_frame: Callable[[Connection, ControllerFrame, bytes], None],
        on_close: Callable[[Connection], None],
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._on_frame = on_frame
        self._on_close = on_close
        self._unknown: List[Connection] = []  # the oldest first
        loop.watch(sock.fileno(), self._accept, "listener")

    def said_hello(self, connection: Connection) -> None:
        if connection in self._unknown:
            self._unknown.remove(connection)

    def _accept(self) -> None:
        try:
            sock, _ = self._sock.accept()
        except BlockingIOError:
            return
        if not is_allowed(sock):
            log("refused a connection of another user")
            sock.close()
            return
        sock.setblocking(False)
        self._unknown.append(Connection(self._loop, sock, self._on_frame, self._closed))
        if len(self._unknown) > _MOST_UNKNOWN:
            self._unknown[0].close()

    def _closed(self, connection: Connection) -> None:
        self.said_hello(connection)
        self._on_close(connection)
