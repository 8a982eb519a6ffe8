"""What a shim of this agent sends: its reports, and that it is idle again."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Protocol, cast

from tarmac.shared.protocol import Decoder

if TYPE_CHECKING:
    import socket

    from tarmac.agent.frames import FailedRecord
    from tarmac.agent.loop import Loop
    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.reports import ReportFrame


class ShimListener(Protocol):
    def shim_reported(self, report: ReportFrame) -> None: ...

    def shim_failing(self, record: FailedRecord) -> None: ...

    def shim_is_idle(self) -> None: ...

    def shim_closed(self) -> None: ...


class ShimChannel:
    def __init__(self, loop: Loop, channel: socket.socket, listener: ShimListener, name: str) -> None:
        self._loop = loop
        self._channel: Optional[socket.socket] = channel
        self._listener = listener
        self._decoder = Decoder()
        self._frames: List[AnyFrame] = []  # not handled yet
        loop.watch(channel.fileno(), self._read, name)

    def drain(self) -> None:
        """Read everything, up to the end of the channel. The shim has ended."""
        while self._channel is not None:
            self._read()
        self._take()

    def release(self) -> None:
        """Stop reading; the shim can be used for another attempt."""
        if self._channel is not None:
            self._loop.unwatch(self._channel.fileno())
            self._channel = None

    def _read(self) -> None:
        self._take()
        channel = self._channel
        if channel is None:
            return
        try:
            data = channel.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""  # the shim was killed before it had read its job
        self._frames += self._decoder.feed(data)
        if not data:
            self.release()
            channel.close()
        self._take()
        if not data:
            self._listener.shim_closed()

    def _take(self) -> None:
        """Frames that remain after a failure are handled by the next call."""
        while self._frames:
            frame = self._frames[0]
            if frame["type"] == "idle":
                self._frames.pop(0)
                self._listener.shim_is_idle()
            elif frame["type"] == "failing":
                self._frames.pop(0)
                self._listener.shim_failing(frame["record"])
            else:
                self._listener.shim_reported(cast("ReportFrame", frame))
                self._frames.pop(0)
