"""The frames between controller and agent, and the only place that encodes or decodes them.

A frame is 4 bytes of big-endian length and that many bytes of UTF-8 JSON: one object with a "type".
A stream that breaks the rule is not to be trusted any further: the reader raises, the connection is closed.

controller → agent   hello start adopt signal forget read_log tail_log watch_log unwatch_log forget_gpus try_gpus ping
                     shutdown
agent → controller   hello started exited launch_failed lost gone gpus gpus_unchanged gpus_forgotten gpus_tried log
                     log_tail log_grew pong ending
probe → agent        gpus xid alive

`start.folder`, when given, is made (0700, with its parents) before the log files are opened. `start.limit_s` seconds
after its release (null: never) the tree gets `start.stop_signal`, and `start.grace_s` later SIGKILL, from the shim.
`exited.timed_out` is true where that signal was sent while the command still ran. `signal.signal` is any of 1 to 64.
`shutdown` is answered by `ending`: for `ending.stops` jobs the agent goes on until they are stopped, unless it is told
that it `is_replaced`, by an agent that takes them over.
"""

from __future__ import annotations

import json
import os
from struct import Struct
from typing import Any, Dict, List

PROTOCOL = 1
MAX_FRAME_BYTES = 16 * 1024 * 1024

Message = Dict[str, Any]

_LENGTH = Struct(">I")
# Built once: json.dumps with options makes a new encoder on every call.
_dumps = json.JSONEncoder(separators=(",", ":")).encode
_loads = json.JSONDecoder().decode


class ProtocolError(Exception):
    """The peer sent something that is no frame."""


def encode(message: Message) -> bytes:
    body = _dumps(message).encode("ascii")
    if len(body) > MAX_FRAME_BYTES:
        raise ProtocolError(
            f"a {message.get('type')} frame of {len(body)} bytes is over the limit of {MAX_FRAME_BYTES}"
        )
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Turns the bytes of a stream, in whatever pieces they come, into messages."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._buffer = bytearray()
        self._max_frame_bytes = max_frame_bytes

    def feed(self, data: bytes) -> List[Message]:
        return [decode(frame) for frame in self.split(data)]

    def split(self, data: bytes) -> List[bytes]:
        """The whole frames that are there now, undecoded."""
        buffer = self._buffer
        buffer += data
        frames = []
        start = 0
        while len(buffer) - start >= 4:
            (length,) = _LENGTH.unpack_from(buffer, start)
            if length > self._max_frame_bytes:
                raise ProtocolError(f"a frame of {length} bytes is over the limit of {self._max_frame_bytes}")
            end = start + 4 + length
            if len(buffer) < end:
                break
            frames.append(bytes(buffer[start:end]))
            start = end
        del buffer[:start]
        return frames


def read_frame(fd: int) -> bytes:
    """One whole frame from a blocking descriptor; empty when it ends before."""
    data = _read_exactly(fd, 4)
    return data and data + _read_exactly(fd, _LENGTH.unpack(data)[0])


def _read_exactly(fd: int, count: int) -> bytes:
    """Empty at the end of file, also in the middle."""
    data = b""
    while len(data) < count:
        piece = os.read(fd, count - len(data))
        if not piece:
            return b""
        data += piece
    return data


def decode(frame: bytes) -> Message:
    try:
        message = _loads(frame[4:].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a frame is not JSON: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError('a frame is not an object with a "type"')
    return message


def started(job: int, attempt: int, *, pid: int, at: float) -> Message:
    return {"type": "started", "job": job, "attempt": attempt, "pid": pid, "started_at": at}


def exited(
    job: int, attempt: int, *, status: int, pid: int, started_at: float, at: float, timed_out: bool = False
) -> Message:
    """`status` as wait(2) gives it."""
    signal = status & 0x7F
    return {
        "type": "exited",
        "job": job,
        "attempt": attempt,
        "exit_code": None if signal else status >> 8,
        "signal": signal or None,
        "started_at": started_at,
        "ended_at": at,
        "pid": pid,
        "timed_out": timed_out,
    }


def launch_failed(job: int, attempt: int, *, message: str, at: float) -> Message:
    return {"type": "launch_failed", "job": job, "attempt": attempt, "message": message, "at": at}


def lost(job: int, attempt: int, *, message: str, alive: bool, at: float) -> Message:
    return {"type": "lost", "job": job, "attempt": attempt, "message": message, "alive": alive, "at": at}


def gone(job: int, attempt: int, *, at: float) -> Message:
    return {"type": "gone", "job": job, "attempt": attempt, "at": at}


def is_final(report: Message) -> bool:
    """No other report of this attempt can follow."""
    kind = report["type"]
    return kind in ("exited", "launch_failed", "gone") or (kind == "lost" and not report["alive"])
