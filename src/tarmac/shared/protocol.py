"""The framing between controller, agent, shim and GPU probe, and the only place that encodes or decodes frames.

A frame is a 4-byte big-endian length followed by that many bytes of UTF-8 JSON: one object with a "type". A stream that
breaks this rule cannot be trusted: the reader raises, and the connection is closed. `frames` declares all frame types.

controller → agent   hello start adopt signal pause forget read_log tail_log watch_log unwatch_log forget_gpus
                     try_gpus check_paths check_environments take_fingerprint find_metrics find_links list_checkouts
                     tidy_checkouts list_logs remove_logs missing_objects add_objects add_object_part keep_objects
                     list_files read_file describe_processes job_memory ping shutdown
agent → controller   hello started exited launch_failed lost gone gpus gpus_unchanged fingerprint gpus_forgotten
                     gpus_tried log log_tail log_grew paths_checked environments_checked fingerprint_taken
                     metrics_found links_found checkouts checkouts_tidied logs_listed logs_removed objects_missing
                     objects_added objects_kept files_listed file_read processes_described job_memory pong ending
agent → shim         assign start
probe → agent        gpus xid alive
agent → file helper  read_log tail_log look_at_log check_paths check_environments take_fingerprint examine find_metrics
                     find_links list_checkouts tidy_checkouts list_logs remove_logs missing_objects add_objects
                     add_object_part keep_objects list_files read_file
file helper → agent  log log_tail looked paths_checked environments_checked fingerprint_taken metrics_found examined
                     links_found checkouts checkouts_tidied logs_listed logs_removed objects_missing objects_added
                     objects_kept files_listed file_read avoided failed
"""

from __future__ import annotations

import json
import os
from struct import Struct
from typing import TYPE_CHECKING, List, Mapping, Optional

if TYPE_CHECKING:
    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.reports import (
        ExitedFrame,
        GoneFrame,
        LaunchFailedFrame,
        LostFrame,
        ReportFrame,
        StartedFrame,
    )
    from tarmac.shared.system.boot_clock import Moment

PROTOCOL = 6  # raise it with every frame or field that the other end must understand: older agents are replaced
MAX_FRAME_BYTES = 16 * 1024 * 1024

_LENGTH = Struct(">I")
# Built once: json.dumps with options makes a new encoder on every call.
_dumps = json.JSONEncoder(separators=(",", ":")).encode
_loads = json.JSONDecoder().decode


class ProtocolError(Exception):
    """The peer sent something that is not a frame."""


def encode(frame: Mapping[str, object]) -> bytes:
    body = _dumps(frame).encode("ascii")
    if len(body) > MAX_FRAME_BYTES:
        raise ProtocolError(f"a {frame.get('type')} frame of {len(body)} bytes is over the limit of {MAX_FRAME_BYTES}")
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Turns the bytes of a stream, however they are split, into frames."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._buffer = bytearray()
        self._max_frame_bytes = max_frame_bytes

    def feed(self, data: bytes) -> List[AnyFrame]:
        return [decode(frame) for frame in self.split(data)]

    def split(self, data: bytes) -> List[bytes]:
        """Return the frames that are complete so far, undecoded."""
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
    """Read one frame from a blocking descriptor. Empty at the end of the file, even inside a frame."""
    data = _read_exactly(fd, 4)
    return data and data + _read_exactly(fd, _LENGTH.unpack(data)[0])


def _read_exactly(fd: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = os.read(fd, count - len(data))
        if not piece:
            return b""
        data += piece
    return data


def decode(frame: bytes) -> AnyFrame:
    try:
        decoded = _loads(frame[4:].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a frame is not JSON: {error}") from None
    if not isinstance(decoded, dict) or not isinstance(decoded.get("type"), str):
        raise ProtocolError('a frame is not an object with a "type"')
    return decoded


def started(job: int, attempt: int, *, pid: int, at: Moment, port: Optional[int] = None) -> StartedFrame:
    return {
        "type": "started",
        "job": job,
        "attempt": attempt,
        "pid": pid,
        "started_at": at.at,
        "started_s": at.boot_s,
        "port": port,
    }


def exited(
    job: int,
    attempt: int,
    *,
    status: int,
    pid: int,
    started: Moment,
    ended: Moment,
    timed_out: bool = False,
    signalled: bool = False,
) -> ExitedFrame:
    """`status` as wait(2) returns it."""
    signal = status & 0x7F
    return {
        "type": "exited",
        "job": job,
        "attempt": attempt,
        "exit_code": None if signal else status >> 8,
        "signal": signal or None,
        "started_at": started.at,
        "ended_at": ended.at,
        "ended_s": ended.boot_s,
        "ran_s": None if started.boot_s is None or ended.boot_s is None else ended.boot_s - started.boot_s,
        "pid": pid,
        "timed_out": timed_out,
        "signalled": signalled,
    }


def launch_failed(job: int, attempt: int, *, message: str, at: Moment) -> LaunchFailedFrame:
    return {
        "type": "launch_failed",
        "job": job,
        "attempt": attempt,
        "message": message,
        "at": at.at,
        "at_s": at.boot_s,
    }


def lost(
    job: int, attempt: int, *, message: str, alive: bool, at: Moment, started_s: Optional[float] = None
) -> LostFrame:
    return {
        "type": "lost",
        "job": job,
        "attempt": attempt,
        "message": message,
        "alive": alive,
        "at": at.at,
        "at_s": at.boot_s,
        "started_s": started_s,
    }


def gone(job: int, attempt: int, *, at: Moment, started_s: Optional[float] = None) -> GoneFrame:
    return {
        "type": "gone",
        "job": job,
        "attempt": attempt,
        "at": at.at,
        "at_s": at.boot_s,
        "started_s": started_s,
    }


def is_final(report: ReportFrame) -> bool:
    """True if no other report of this attempt can follow."""
    if report["type"] == "lost":
        return not report["alive"]
    return report["type"] != "started"
