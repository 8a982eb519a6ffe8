"""A connection from the controller: it never blocks the loop and never trusts a broken stream."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Callable, cast

from tarmac.agent.loop import READ, WRITE, Loop, log
from tarmac.shared.protocol import Decoder, ProtocolError, decode, encode
from tarmac.shared.system.sockets import peer_uid

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import ControllerFrame
    from tarmac.shared.frames.to_controller import AgentFrame

# A controller that requests logs without reading them is not read from until it has caught up.
_MAX_UNSENT_BYTES = 32 * 1024 * 1024
_RECEIVE_BYTES = 65536  # from 128 KiB on, malloc would map and unmap memory on every call


class UnknownFrame(Exception):
    """A newer controller may send frames this agent does not know."""


class Connection:
    def __init__(
        self,
        loop: Loop,
        sock: socket.socket,
        on_frame: Callable[[Connection, ControllerFrame, bytes], None],
        on_close: Callable[[Connection], None],
    ) -> None:
        """`on_frame` gets each frame decoded and as it arrived."""
        self._loop = loop
        self._sock = sock
        self._on_frame = on_frame
        self._on_close = on_close
        self._decoder = Decoder()
        self._unsent = bytearray()
        self._is_open = True
        self._is_heard = True  # False: the controller is gone, but what it sent before is still to be read
        loop.watch(sock.fileno(), self._ready, "controller connection")

    def send(self, frame: AgentFrame) -> None:
        if not (self._is_open and self._is_heard):
            return
        try:
            data = encode(frame)
        except ProtocolError as error:
            log(f"controller connection: {error}")
            return
        self.send_encoded(data)

    def send_encoded(self, data: bytes) -> None:
        if not (self._is_open and self._is_heard):
            return
        if not self._unsent:
            try:
                data = data[self._sock.send(data) :]
            except BlockingIOError:
                pass
            except OSError:
                self._is_heard = False
                return
        if data:
            self._unsent += data
            self._set_events()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.unwatch(self._sock.fileno())
            self._sock.close()
            self._on_close(self)

    def _ready(self) -> None:
        if self._unsent:
            self._flush()
        if self._is_open and len(self._unsent) <= _MAX_UNSENT_BYTES:
            self._receive()

    def _flush(self) -> None:
        try:
            del self._unsent[: self._sock.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self._is_heard = False
            self._unsent.clear()
        self._set_events()

    def _set_events(self) -> None:
        events = 0 if len(self._unsent) > _MAX_UNSENT_BYTES else READ
        self._loop.change(self._sock.fileno(), events | (WRITE if self._unsent else 0))

    def _receive(self) -> None:
        try:
            data = self._sock.recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        try:
            for frame in self._decoder.split(data):
                if self._is_open:
                    self._on_frame(self, cast("ControllerFrame", decode(frame)), frame)
        except ProtocolError as error:
            log(f"controller connection closed: {error}")
            self.close()


def is_allowed(sock: socket.socket) -> bool:
    """True if the peer is the agent's user or root, according to the kernel."""
    return peer_uid(sock) in (os.getuid(), 0)
