"""Reading log files for the controller: pieces, where the last lines begin, and word when a file has grown.

Memory is bounded whatever is in the file, and no call takes long: a search goes in steps between other work.
"""

from __future__ import annotations

import os
import stat
import struct
from binascii import b2a_base64
from typing import Callable, Dict, List, Optional, Set

from tarmac.agent.loop import Loop
from tarmac.shared import kernel
from tarmac.shared.protocol import Message

_MAX_READ_BYTES = 4 * 1024 * 1024
_STEP_BYTES = 1024 * 1024
_MAX_BACK_BYTES = 64 * 1024 * 1024
_POLL_S = 1.0
_EVENT = struct.Struct("iIII")

Send = Callable[[Message], None]


def read_log(message: Message, send: Send) -> None:
    ref = message.get("ref")
    try:
        fd = _open(message["path"])
        try:
            size = os.fstat(fd).st_size
            data = os.pread(fd, max(0, min(message["limit"], _MAX_READ_BYTES)), message["offset"])
        finally:
            os.close(fd)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        send({"type": "log", "ref": ref, "error": _say(error), "is_missing": is_missing})
        return
    text = b2a_base64(data, newline=False).decode("ascii")
    send({"type": "log", "ref": ref, "offset": message["offset"], "size": size, "data": text})


class TailSearch:
    """Finds the offset at which the last lines begin, from the end backwards, one step per turn of the loop."""

    def __init__(self, loop: Loop, message: Message, send: Send) -> None:
        self._loop = loop
        self._ref = message.get("ref")
        self._send = send
        self._missing = max(0, int(message["lines"]))
        try:
            self._fd = _open(message["path"])
        except OSError as error:
            send({"type": "log_tail", "ref": self._ref, "error": _say(error)})
            return
        self._size = os.fstat(self._fd).st_size
        self._end = self._size
        if self._size and os.pread(self._fd, 1, self._size - 1) == b"\n":
            self._end -= 1  # the line end of the last line begins no other
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
        """`is_cut`: fewer lines than asked for, or less than a whole one, since no more is searched."""
        os.close(self._fd)
        self._send({"type": "log_tail", "ref": self._ref, "offset": offset, "size": self._size, "is_cut": is_cut})


class _Watched:
    def __init__(self, ref: object, path: str, size: int) -> None:
        self.ref = ref
        self.path = path
        self.size = size
        self.inotify_id: Optional[int] = None


class LogWatch:
    """Tells once when the size of a file differs from a given one. A file that is not there has size 0."""

    def __init__(self, loop: Loop, send: Send) -> None:
        self._loop = loop
        self._send = send
        self._watched: Dict[object, _Watched] = {}
        self._by_id: Dict[int, Set[object]] = {}
        self._inotify: Optional[int] = None
        self._is_polling = False

    def add(self, message: Message) -> None:
        self.remove(message.get("ref"))
        watched = _Watched(message.get("ref"), message["path"], message["offset"])
        self._watched[watched.ref] = watched
        self._subscribe(watched)
        self._look(watched)  # after subscribing: what happened in between is seen now

    def remove(self, ref: object) -> None:
        watched = self._watched.pop(ref, None)
        if watched is not None:
            self._unsubscribe(watched)

    def clear(self) -> None:
        for ref in list(self._watched):
            self.remove(ref)

    def _look(self, watched: _Watched) -> None:
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
            # The folder is not there either, or the user's watches are used up.
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
                    self._subscribe(watched)  # a folder event may mean that the file is there now
                    self._look(watched)

    def _poll_soon(self) -> None:
        if not self._is_polling:
            self._is_polling = True
            self._loop.after(_POLL_S, self._poll, "log watch")

    def _poll(self) -> None:
        self._is_polling = False
        for watched in list(self._watched.values()):
            if watched.inotify_id is None:
                self._subscribe(watched)
                self._look(watched)


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
    """Where the count-th line end from the end is."""
    position = len(data)
    for _ in range(count):
        position = data.rindex(b"\n", 0, position)
    return position


def _say(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
