"""Reads log files for the controller: chunks, the offset of the last lines, and a notice when a file has grown.

Memory use is bounded whatever the file holds, and no call takes long: a search proceeds in steps between other work.
"""

from __future__ import annotations

import os
import stat
import struct
from binascii import b2a_base64
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Set, Union

from tarmac.agent.loop import Loop
from tarmac.shared import kernel

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import ReadLogFrame, TailLogFrame, WatchLogFrame
    from tarmac.shared.frames.to_controller import (
        LogErrorFrame,
        LogFrame,
        LogGrewFrame,
        LogTailErrorFrame,
        LogTailFrame,
    )

_MAX_READ_BYTES = 4 * 1024 * 1024
_STEP_BYTES = 1024 * 1024
_MAX_BACK_BYTES = 64 * 1024 * 1024
_POLL_S = 1.0
_EVENT = struct.Struct("iIII")


def read_log(request: ReadLogFrame) -> Union[LogFrame, LogErrorFrame]:
    ref = request.get("ref")
    try:
        fd = _open(request["path"])
        try:
            size = os.fstat(fd).st_size
            data = os.pread(fd, max(0, min(request["limit"], _MAX_READ_BYTES)), request["offset"])
        finally:
            os.close(fd)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        return {"type": "log", "ref": ref, "error": _describe(error), "is_missing": is_missing}
    text = b2a_base64(data, newline=False).decode("ascii")
    return {"type": "log", "ref": ref, "offset": request["offset"], "size": size, "data": text}


class TailSearch:
    """Finds the offset where the last lines begin: from the end backwards, one step per turn of the loop."""

    def __init__(
        self, loop: Loop, request: TailLogFrame, send: Callable[[Union[LogTailFrame, LogTailErrorFrame]], None]
    ) -> None:
        self._loop = loop
        self._ref = request.get("ref")
        self._send = send
        self._missing = max(0, int(request["lines"]))
        try:
            self._fd = _open(request["path"])
        except OSError as error:
            send({"type": "log_tail", "ref": self._ref, "error": _describe(error)})
            return
        self._size = os.fstat(self._fd).st_size
        self._end = self._size
        if self._size and os.pread(self._fd, 1, self._size - 1) == b"\n":
            self._end -= 1  # the newline that ends the last line does not begin another
        self._lowest = max(0, self._size - _MAX_BACK_BYTES)
        self._step()

    def _step(self) -> None:
        if not self._missing:
            self._finish(self._size)
            return
        start = max(self._lowest, self._end - _STEP_BYTES)
        data = os.pread(self._fd, self._end - start, start)
        found = data.count(b"\n")
        if found >= self._missing:
            self._finish(start + _find_from_end(data, self._missing) + 1)
        elif start == self._lowest:
            self._finish(start, is_cut=start > 0)
        else:
            self._missing -= found
            self._end = start
            self._loop.after(0.0, self._step, "log search")

    def _finish(self, offset: int, *, is_cut: bool = False) -> None:
        """`is_cut`: the search stopped at its limit with fewer lines than requested."""
        os.close(self._fd)
        self._send({"type": "log_tail", "ref": self._ref, "offset": offset, "size": self._size, "is_cut": is_cut})


class _Watched:
    def __init__(self, ref: Optional[int], path: str, size: int) -> None:
        self.ref = ref
        self.path = path
        self.size = size
        self.inotify_id: Optional[int] = None


class LogWatch:
    """Reports once when the size of a file differs from a given size. A missing file has size 0."""

    def __init__(self, loop: Loop, send: Callable[[LogGrewFrame], None]) -> None:
        self._loop = loop
        self._send = send
        self._watched: Dict[Optional[int], _Watched] = {}
        self._by_id: Dict[int, Set[Optional[int]]] = {}
        self._inotify: Optional[int] = None
        self._is_polling = False

    def add(self, request: WatchLogFrame) -> None:
        self.remove(request.get("ref"))
        watched = _Watched(request.get("ref"), request["path"], request["offset"])
        self._watched[watched.ref] = watched
        self._subscribe(watched)
        self._check(watched)  # after subscribing, so that no change in between is missed

    def remove(self, ref: Optional[int]) -> None:
        watched = self._watched.pop(ref, None)
        if watched is not None:
            self._unsubscribe(watched)

    def clear(self) -> None:
        for ref in list(self._watched):
            self.remove(ref)

    def _check(self, watched: _Watched) -> None:
        size = _size(watched.path)
        if size != watched.size:
            self.remove(watched.ref)
            self._send({"type": "log_grew", "ref": watched.ref, "size": size})

    def _subscribe(self, watched: _Watched) -> None:
        try:
            if self._inotify is None:
                self._inotify = kernel.inotify_init()
                self._loop.watch(self._inotify, self._notified, "log watch")
            watched.inotify_id = self._add_watch(watched.path)
            self._by_id.setdefault(watched.inotify_id, set()).add(watched.ref)
        except OSError:
            # The directory is missing too, or the user has no inotify watches left.
            self._poll_soon()

    def _add_watch(self, path: str) -> int:
        assert self._inotify is not None
        try:
            return kernel.inotify_add_watch(
                self._inotify, path, kernel.IN_MODIFY | kernel.IN_ATTRIB | kernel.IN_MOVE_SELF
            )
        except FileNotFoundError:
            folder = os.path.dirname(path)
            return kernel.inotify_add_watch(self._inotify, folder, kernel.IN_CREATE | kernel.IN_MOVED_TO)

    def _unsubscribe(self, watched: _Watched) -> None:
        if watched.inotify_id is None or self._inotify is None:
            return
        refs = self._by_id.get(watched.inotify_id, set())
        refs.discard(watched.ref)
        if not refs:
            self._by_id.pop(watched.inotify_id, None)
            kernel.inotify_rm_watch(self._inotify, watched.inotify_id)
        watched.inotify_id = None

    def _notified(self) -> None:
        assert self._inotify is not None
        for inotify_id in _event_ids(os.read(self._inotify, 65536)):
            for ref in sorted(self._by_id.get(inotify_id, ()), key=str):
                watched = self._watched.get(ref)
                if watched is not None:
                    self._unsubscribe(watched)
                    self._subscribe(watched)  # an event of the directory may mean that the file exists now
                    self._check(watched)

    def _poll_soon(self) -> None:
        if not self._is_polling:
            self._is_polling = True
            self._loop.after(_POLL_S, self._poll, "log watch")

    def _poll(self) -> None:
        self._is_polling = False
        for watched in list(self._watched.values()):
            if watched.inotify_id is None:
                self._subscribe(watched)
                self._check(watched)


def _event_ids(data: bytes) -> List[int]:
    ids: List[int] = []
    offset = 0
    while offset < len(data):
        inotify_id, _, _, name_bytes = _EVENT.unpack_from(data, offset)
        if inotify_id not in ids:
            ids.append(inotify_id)
        offset += _EVENT.size + name_bytes
    return ids


def _open(path: str) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO must not hang the agent
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(0, "is not a regular file", path)
    return fd


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _find_from_end(data: bytes, count: int) -> int:
    """Return the position of the count-th newline from the end."""
    position = len(data)
    for _ in range(count):
        position = data.rindex(b"\n", 0, position)
    return position


def _describe(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
