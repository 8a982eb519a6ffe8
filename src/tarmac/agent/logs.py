"""Reads log files for the controller: chunks, and the offset of the last lines. Called in helper processes only.

Memory use is bounded, whatever the file contains.
"""

from __future__ import annotations

import time
from binascii import b2a_base64
from typing import TYPE_CHECKING, Optional, Union

from tarmac.agent.log_file import LogFile, cap

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import ReadLogFrame, TailLogFrame
    from tarmac.shared.frames.to_controller import (
        LogErrorFrame,
        LogFrame,
        LogTailErrorFrame,
        LogTailFrame,
    )

_MAX_READ_BYTES = 4 * 1024 * 1024
_STEP_BYTES = 1024 * 1024
_MAX_BACK_BYTES = 64 * 1024 * 1024
_MAX_SEARCH_S = 3.0
_MAX_LINES = 10_000  # before a traceback, and from there on
_BEFORE_BYTES = 64 * 1024  # a traceback of a chain, or of another process, may come first


def read_log(request: ReadLogFrame) -> Union[LogFrame, LogErrorFrame]:
    ref = request.get("ref")
    try:
        if request.get("cap"):
            cap(request["path"], request["cap"])
        with LogFile(request["path"]) as log:
            size = log.size
            offset = max(request["offset"] if request["offset"] >= 0 else size + request["offset"], log.begin)
            data = log.read(max(0, min(request["limit"], _MAX_READ_BYTES)), offset)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        return {"type": "log", "ref": ref, "error": _describe(error), "is_missing": is_missing}
    text = b2a_base64(data, newline=False).decode("ascii")
    return {"type": "log", "ref": ref, "offset": offset, "size": size, "data": text}


def read_end(path: str, begin: int, most: int) -> bytes:
    """Return the last bytes of a log, at most `most`, of what was written from `begin` on. Raises OSError."""
    with LogFile(path) as log:
        first = max(begin, log.begin, log.size - most)
        return log.read(max(0, log.size - first), first)


def find_tail(request: TailLogFrame) -> Union[LogTailFrame, LogTailErrorFrame]:
    """Find the offset where the last lines begin, from the end backwards."""
    try:
        with LogFile(request["path"]) as log:
            return _find_error(log, request) if request.get("error") else _find_tail(log, request)
    except OSError as error:
        return {"type": "log_tail", "ref": request.get("ref"), "error": _describe(error)}


def _find_tail(log: LogFile, request: TailLogFrame) -> LogTailFrame:
    size = end = log.size
    missing = max(0, int(request["lines"]))
    if size > log.begin and log.read(1, size - 1) == b"\n":
        end -= 1  # the newline that ends the last line does not begin another
    lowest = max(log.begin, size - _MAX_BACK_BYTES)
    until = time.monotonic() + _MAX_SEARCH_S
    begin = size
    is_cut = False
    while missing and begin > lowest:
        begin = max(lowest, end - _STEP_BYTES)
        data = log.read(end - begin, begin)
        found = data.count(b"\n")
        if found >= missing:
            begin += _find_from_end(data, missing) + 1
            break
        is_cut = begin > log.begin and (begin == lowest or time.monotonic() > until)
        if is_cut:
            break
        missing -= found
        end = begin
    # is_cut: the search stopped at its limit with fewer lines than requested
    return {"type": "log_tail", "ref": request.get("ref"), "offset": begin, "size": size, "is_cut": is_cut}


def _find_error(log: LogFile, request: TailLogFrame) -> LogTailFrame:
    """Look for the last traceback; without one, for the first error line near the end."""
    from tarmac.agent.outcome.error_lines import TRACEBACK, find_failure, split_bytes  # patterns take a while

    size = log.size
    begin = max(log.begin, size - _STEP_BYTES)
    at = _last_place(log, TRACEBACK.encode())
    if at is not None:
        begin = max(log.begin, min(begin, at - _BEFORE_BYTES))
    data = log.read(2 * _STEP_BYTES, begin)
    near = _bound(data, len(data) if at is None else at - begin)
    begin += near.start
    lines = split_bytes(data[near])
    number = find_failure([line.text for line in lines]).begins
    offset = size if number is None else begin + lines[number].offset
    return {
        "type": "log_tail",
        "ref": request.get("ref"),
        "offset": offset,
        "size": size,
        "is_cut": False,
        "is_found": number is not None,
    }


def _bound(data: bytes, middle: int) -> slice:
    """The last lines before a position and the first ones after it: each line costs time, even an empty one."""
    begin, end = middle, middle
    for _ in range(_MAX_LINES):
        begin = data.rfind(b"\n", 0, begin)
        if begin < 0:
            break
    for _ in range(_MAX_LINES):
        end = data.find(b"\n", end) + 1
        if not end:
            break
    return slice(begin + 1, end or len(data))


def _last_place(log: LogFile, words: bytes) -> Optional[int]:
    """Search backwards, within the same bounds as for lines."""
    until = time.monotonic() + _MAX_SEARCH_S
    end = log.size
    while end > max(log.begin, log.size - _MAX_BACK_BYTES) and time.monotonic() < until:
        begin = max(log.begin, end - _STEP_BYTES)
        found = log.read(end - begin + len(words), begin).rfind(words)
        if found >= 0:
            return begin + found
        end = begin
    return None


def _find_from_end(data: bytes, count: int) -> int:
    """Return the position of the count-th newline from the end."""
    position = len(data)
    for _ in range(count):
        position = data.rindex(b"\n", 0, position)
    return position


def _describe(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
