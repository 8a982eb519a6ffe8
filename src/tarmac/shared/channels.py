"""Many connections over one stream: the two ends of `tarmac -H` each run one of these.

A frame is its kind, the number of its channel, the length of its content, and the content. Every channel has a window:
one end sends at most this much until the other has passed it on, so that a reader who pauses stops only one channel.
"""

from __future__ import annotations

import os
import select
from collections import deque
from struct import Struct
from typing import Callable, Deque, Dict, Optional, Tuple

OPEN, DATA, END, CLOSE, CREDIT = 1, 2, 3, 4, 5
WINDOW = 1 << 20
PIECE = 1 << 16
MOST_QUEUED = 1 << 20  # bytes that wait for the stream, before channels are no longer read
_HEAD = Struct(">BII")
_NUMBER = Struct(">I")

# What to do with a channel that the other end opens: its first bytes, and the socket to continue with.
Opened = Tuple[bytes, Optional[int]]


class _Channel:
    __slots__ = ("credit", "fd", "has_ended", "pending", "will_end")

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.credit = WINDOW  # bytes that the other end takes now
        self.pending = bytearray()  # for the socket
        self.has_ended = False  # nothing more comes from the socket
        self.will_end = False  # nothing more comes from the other end


class Channels:
    """Owns the descriptors. `run` returns when the stream has ended, and everything is closed then."""

    def __init__(self, source: int, sink: int, accept: Callable[[bytes], Opened]) -> None:
        self.is_over = False
        self._is_stopped = False
        self._source, self._sink = source, sink
        self._accept = accept
        self._incoming = bytearray()
        self._outgoing = bytearray()
        self._channels: Dict[int, _Channel] = {}
        self._new: Deque[Tuple[int, bytes]] = deque()
        self._last = 0
        self._woken, self._wake = os.pipe()
        for fd in (source, sink, self._woken):
            os.set_blocking(fd, False)

    def open(self, fd: int, content: bytes) -> None:
        """Connect a socket with a new channel. Any thread may call it, a signal handler as well: it takes no lock."""
        self._new.append((fd, content))
        if self.is_over:
            self._close_new()
        else:
            os.write(self._wake, b"\0")

    def stop(self) -> None:
        """Make `run` return. Any thread may call it."""
        self._is_stopped = True
        os.write(self._wake, b"\0")

    def run(self, received: bytes = b"") -> None:
        """`received`: what came from the stream already."""
        self._incoming += received
        try:
            self._take_frames()
            while not self._is_stopped:
                self._serve(self._poll())
        except (EOFError, OSError):
            pass  # the stream has ended
        finally:
            self._close()

    def __del__(self) -> None:
        # Not earlier: another thread may be about to write to it.
        for fd in (self._woken, self._wake):
            os.close(fd)

    def _close(self) -> None:
        self.is_over = True
        for channel in self._channels.values():
            os.close(channel.fd)
        self._channels.clear()
        self._close_new()
        for fd in {self._source, self._sink}:
            os.close(fd)

    def _close_new(self) -> None:
        while self._new:
            os.close(self._new.popleft()[0])

    def _poll(self) -> Dict[int, int]:
        waiting = select.poll()
        interest = {self._source: select.POLLIN, self._woken: select.POLLIN}
        if self._outgoing:
            interest[self._sink] = interest.get(self._sink, 0) | select.POLLOUT
        for channel in self._channels.values():
            wanted = select.POLLOUT if channel.pending else 0
            if channel.credit > 0 and not channel.has_ended and len(self._outgoing) < MOST_QUEUED:
                wanted |= select.POLLIN
            if wanted:  # otherwise a socket that was closed would wake us again and again
                interest[channel.fd] = wanted
        for fd, wanted in interest.items():
            waiting.register(fd, wanted)
        return dict(waiting.poll())

    def _serve(self, ready: Dict[int, int]) -> None:
        if self._woken in ready:
            os.read(self._woken, PIECE)
            while self._new:
                self._begin(*self._new.popleft())
        if ready.get(self._source, 0) & ~select.POLLOUT:
            self._receive()
        for number, channel in list(self._channels.items()):
            if channel.fd in ready and self._channels.get(number) is channel:
                self._move(number, channel, ready[channel.fd])
        self._flush()

    def _begin(self, fd: int, content: bytes) -> None:
        self._last += 1
        self._channels[self._last] = _Channel(fd)
        self._send(OPEN, self._last, content)

    def _move(self, number: int, channel: _Channel, events: int) -> None:
        if channel.pending:
            self._deliver(number, channel)
        if channel.has_ended or not events & ~select.POLLOUT or self._channels.get(number) is not channel:
            return
        try:
            data = os.read(channel.fd, min(PIECE, channel.credit))
        except BlockingIOError:
            return
        except OSError:
            self._drop(number, channel)
            return
        if data:
            channel.credit -= len(data)
            self._send(DATA, number, data)
        elif events & select.POLLHUP:
            self._drop(number, channel)
        else:
            channel.has_ended = True
            self._send(END, number)
            self._finish(number, channel)

    def _deliver(self, number: int, channel: _Channel) -> None:
        try:
            count = os.write(channel.fd, channel.pending)
        except BlockingIOError:
            return
        except OSError:
            channel.pending.clear()
            if channel.has_ended:
                self._drop(number, channel)
            return  # what the socket said before it was closed is read first
        del channel.pending[:count]
        self._send(CREDIT, number, _NUMBER.pack(count))
        self._finish(number, channel)

    def _finish(self, number: int, channel: _Channel) -> None:
        if not channel.will_end or channel.pending:
            return
        if channel.has_ended:
            del self._channels[number]
            os.close(channel.fd)
        else:
            _shut_down(channel.fd)

    def _drop(self, number: int, channel: _Channel) -> None:
        del self._channels[number]
        os.close(channel.fd)
        self._send(CLOSE, number)

    def _receive(self) -> None:
        try:
            data = os.read(self._source, PIECE)
        except BlockingIOError:
            return
        if not data:
            raise EOFError
        self._incoming += data
        self._take_frames()

    def _take_frames(self) -> None:
        begin = 0
        while len(self._incoming) - begin >= _HEAD.size:
            kind, number, length = _HEAD.unpack_from(self._incoming, begin)
            end = begin + _HEAD.size + length
            if length > WINDOW or kind not in (OPEN, DATA, END, CLOSE, CREDIT):
                raise EOFError  # the stream is damaged
            if len(self._incoming) < end:
                break
            self._take(kind, number, bytes(self._incoming[begin + _HEAD.size : end]))
            begin = end
        del self._incoming[:begin]

    def _take(self, kind: int, number: int, content: bytes) -> None:
        if kind == OPEN:
            first, fd = self._accept(content)
            self._send(DATA, number, first)
            if fd is None:
                self._send(CLOSE, number)
            else:
                self._channels[number] = _Channel(fd)
                self._channels[number].credit -= len(first)
            return
        channel = self._channels.get(number)
        if channel is None:
            return  # closed here, which the other end did not know yet
        if kind == DATA:
            channel.pending += content
            self._deliver(number, channel)
        elif kind == CREDIT:
            channel.credit += _NUMBER.unpack(content)[0]
        elif kind == END:
            channel.will_end = True
            self._finish(number, channel)
        else:
            self._close_after_delivery(number, channel)

    def _close_after_delivery(self, number: int, channel: _Channel) -> None:
        """The other end is done with it. What it sent before still arrives."""
        channel.will_end = channel.has_ended = True
        self._finish(number, channel)

    def _send(self, kind: int, number: int, content: bytes = b"") -> None:
        self._outgoing += _HEAD.pack(kind, number, len(content)) + content

    def _flush(self) -> None:
        while self._outgoing:
            try:
                count = os.write(self._sink, self._outgoing[:PIECE])
            except BlockingIOError:
                return
            del self._outgoing[:count]


def _shut_down(fd: int) -> None:
    """Tell the process at the other end of a socket that nothing more comes."""
    import socket

    with socket.socket(fileno=os.dup(fd)) as twin:
        try:
            twin.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it is gone already
