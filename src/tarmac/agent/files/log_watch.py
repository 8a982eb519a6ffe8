"""Reports when a log has grown: by inotify, or by looking every second where that is not possible.

Helpers add the watches, because even that may hang. The agent reads the events.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Callable, Dict, List, NamedTuple, Optional, Set, Union

from tarmac.agent.files.pool import FileHelpers, Request
from tarmac.agent.loop import Loop
from tarmac.shared.protocol import decode
from tarmac.shared.system import kernel

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import WatchLogFrame
    from tarmac.shared.frames.to_controller import LogGrewErrorFrame, LogGrewFrame

_POLL_S = 1.0
_WITHIN_S = 4.0
_EVENT = struct.Struct("iIII")


class _Watched:
    def __init__(self, ref: Optional[int], path: str, size: int) -> None:
        self.ref = ref
        self.path = path
        self.size = size
        self.inotify_id: Optional[int] = None
        self.is_looking = False
        self.has_news = False  # while a helper was looking
        self.early: Set[int] = set()  # events meanwhile of watches that it may have added


class LogWatch:
    """Reports once when the size of a file differs from a given size. A missing file has size 0."""

    def __init__(
        self,
        loop: Loop,
        helpers: FileHelpers,
        inotify_fd: Optional[int],
        send: Callable[[Union[LogGrewFrame, LogGrewErrorFrame]], None],
    ) -> None:
        self._loop = loop
        self._helpers = helpers
        self._inotify_fd = inotify_fd
        self._send = send
        self._watched: Dict[Optional[int], _Watched] = {}
        self._by_id: Dict[int, Set[Optional[int]]] = {}
        self._looking: Set[_Watched] = set()
        self._is_polling = False
        if inotify_fd is not None:
            loop.watch(inotify_fd, self._notified, "log watch")

    def add(self, request: WatchLogFrame) -> None:
        self.remove(request.get("ref"))
        watched = _Watched(request.get("ref"), request["path"], request["offset"])
        self._watched[watched.ref] = watched
        self._look(watched)

    def remove(self, ref: Optional[int]) -> None:
        watched = self._watched.pop(ref, None)
        if watched is not None:
            self._assign(watched, None)

    def clear(self) -> None:
        for ref in list(self._watched):
            self.remove(ref)

    # Looking

    def _look(self, watched: _Watched) -> None:
        if watched.is_looking:
            watched.has_news = True
            return
        watched.is_looking, watched.has_news = True, False
        watched.early.clear()
        self._looking.add(watched)

        def looked(data: bytes) -> None:
            answer = decode(data)
            self._looked(watched, answer["watch"], answer["size"])

        frame = {"type": "look_at_log", "path": watched.path}
        self._helpers.ask(Request(frame, _WITHIN_S, looked, lambda reason: self._silent(watched, reason)))

    def _looked(self, watched: _Watched, inotify_id: Optional[int], size: int) -> None:
        self._end_look(watched)
        if self._watched.get(watched.ref) is not watched:
            self._remove_unused(inotify_id)
            return
        self._assign(watched, inotify_id)
        if size != watched.size:
            self.remove(watched.ref)
            self._send({"type": "log_grew", "ref": watched.ref, "size": size})
        elif watched.has_news or inotify_id in watched.early:
            self._look(watched)
        elif inotify_id is None:
            self._poll_soon()

    def _silent(self, watched: _Watched, reason: str) -> None:
        self._end_look(watched)
        if self._watched.get(watched.ref) is watched:
            self.remove(watched.ref)
            self._send({"type": "log_grew", "ref": watched.ref, "error": reason})

    def _end_look(self, watched: _Watched) -> None:
        watched.is_looking = False
        self._looking.discard(watched)

    # Inotify

    def _assign(self, watched: _Watched, inotify_id: Optional[int]) -> None:
        before = watched.inotify_id
        watched.inotify_id = inotify_id
        if inotify_id is not None:
            self._by_id.setdefault(inotify_id, set()).add(watched.ref)
        if before is not None and before != inotify_id:
            self._by_id.get(before, set()).discard(watched.ref)
            self._remove_unused(before)

    def _remove_unused(self, inotify_id: Optional[int]) -> None:
        if inotify_id is not None and self._inotify_fd is not None and not self._by_id.get(inotify_id):
            self._by_id.pop(inotify_id, None)
            kernel.inotify_rm_watch(self._inotify_fd, inotify_id)

    def _notified(self) -> None:
        assert self._inotify_fd is not None
        try:
            data = os.read(self._inotify_fd, 65536)
        except BlockingIOError:
            return
        for event in _events(data):
            if event.mask & kernel.IN_Q_OVERFLOW:
                refs = set(self._watched)
            else:
                refs = set(self._by_id.get(event.inotify_id, ()))
                for watched in self._looking:
                    watched.early.add(event.inotify_id)
            for ref in sorted(refs, key=str):
                self._look(self._watched[ref])

    # Polling

    def _poll_soon(self) -> None:
        if not self._is_polling:
            self._is_polling = True
            self._loop.after(_POLL_S, self._poll, "log watch")

    def _poll(self) -> None:
        self._is_polling = False
        for watched in list(self._watched.values()):
            if watched.inotify_id is None:
                self._look(watched)


class _Event(NamedTuple):
    inotify_id: int
    mask: int


def _events(data: bytes) -> List[_Event]:
    """Each once: the mask matters only for an overflow."""
    found: Dict[int, _Event] = {}
    offset = 0
    while offset < len(data):
        inotify_id, mask, _, name_bytes = _EVENT.unpack_from(data, offset)
        found[inotify_id] = _Event(inotify_id, mask)
        offset += _EVENT.size + name_bytes
    return list(found.values())
