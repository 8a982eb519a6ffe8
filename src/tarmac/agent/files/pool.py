"""Helper processes for paths that users choose. A file system that hangs hurts only those who ask for it.

A request that takes long does not count against the number of helpers, so that others get one. At most two helpers wait
for the same mount: further requests for it wait behind them. Once one of them has missed its deadline, the mount counts
as silent, and requests for it fail at once until that helper comes back. A helper that hangs is never waited for.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Callable, Deque, Dict, List, Optional, Set

from tarmac.agent.files.helper import Helper
from tarmac.agent.files.mounts import mount_of, read_mounts
from tarmac.agent.loop import Loop, log
from tarmac.shared.protocol import decode

if TYPE_CHECKING:
    from tarmac.shared.frames.base import AnyFrame

_AT_ONCE = 4  # helpers that work, or are idle
_PER_MOUNT = 2
_MOST = 64
_CHECK_S = 0.05
_SLOW_S = 0.1
_AFTER_TROUBLE_S = 1.0
_TRIES = 2  # a helper may be killed
_INTERNAL = (b'{"type":"avoided"', b'{"type":"failed"')


class Request:
    """`on_answer` gets the answer as it arrived, or `on_silence` the reason why none came."""

    def __init__(
        self, frame: AnyFrame, within_s: float, on_answer: Callable[[bytes], None], on_silence: Callable[[str], None]
    ) -> None:
        self.frame = frame
        self.deadline = time.monotonic() + within_s
        self.on_answer = on_answer
        self.on_silence = on_silence
        self.is_over = False
        self.tries = 0
        self.parked_at: Optional[str] = None  # the mount that it waits for

    def fail(self, reason: str) -> None:
        self.is_over = True
        self.on_silence(reason)


class _Job:
    """What a helper is doing."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.begun_at = time.monotonic()
        self.mount: Optional[str] = None  # once it takes long
        self.is_slow = False


class FileHelpers:
    def __init__(self, loop: Loop, state: str, inotify_fd: Optional[int]) -> None:
        self._loop = loop
        self._state = state
        self._inotify_fd = inotify_fd
        self._idle: List[Helper] = []
        self._busy: Dict[Helper, _Job] = {}
        self._leaving: Set[Helper] = set()
        self._waiting: Deque[Request] = deque()
        self._parked: List[Request] = []  # for mounts that enough helpers wait for
        self._is_checking = False
        self._fork_again_at = 0.0

    @property
    def pids(self) -> Set[int]:
        return {helper.pid for helper in (*self._idle, *self._busy, *self._leaving)}

    def prepare(self) -> None:
        """Fork a helper in advance."""
        if not self._idle and not self._busy:
            helper = self._fork()
            if helper is not None:
                self._idle.append(helper)

    def ask(self, request: Request) -> None:
        self._waiting.append(request)
        self._dispatch()
        self._check_soon()

    # Requests

    def _dispatch(self) -> None:
        while self._waiting:
            if self._waiting[0].is_over:
                self._waiting.popleft()
                continue
            helper = self._take()
            if helper is None:
                return
            request = self._waiting.popleft()
            self._busy[helper] = _Job(request)
            helper.send(request.frame, self._avoided())

    def _take(self) -> Optional[Helper]:
        if self._idle:
            return self._idle.pop()
        at_work = sum(not job.is_slow for job in self._busy.values())
        return self._fork() if at_work < _AT_ONCE and len(self._busy) < _MOST else None

    def _fork(self) -> Optional[Helper]:
        if time.monotonic() < self._fork_again_at:
            return None
        try:
            return Helper(self._loop, self._inotify_fd, self._state, self._answered, self._ended)
        except OSError as error:
            log(f"cannot fork a file helper: {error}")
            self._fork_again_at = time.monotonic() + _AFTER_TROUBLE_S
            return None

    def _avoided(self) -> List[str]:
        mounts = [job.mount for job in self._busy.values() if job.mount is not None]
        return sorted({mount for mount in mounts if mounts.count(mount) >= _PER_MOUNT or self._is_silent(mount)})

    def _is_silent(self, mount: str) -> bool:
        return any(job.mount == mount and job.request.is_over for job in self._busy.values())

    def _answered(self, helper: Helper, data: bytes) -> None:
        job = self._busy.pop(helper, None)
        if job is None:
            return
        if len(self._idle) < _AT_ONCE:
            self._idle.append(helper)
        else:
            self._dismiss(helper)
        self._unpark()
        if not job.request.is_over:
            self._conclude(job.request, data)
        self._dispatch()

    def _conclude(self, request: Request, data: bytes) -> None:
        if not data[4:].startswith(_INTERNAL):
            request.is_over = True
            request.on_answer(data)
            return
        answer = decode(data)
        if answer["type"] == "failed":
            request.fail(answer["error"])
        elif self._is_silent(answer["mount"]):
            request.fail(_silence(answer["mount"]))
        else:
            request.parked_at = answer["mount"]
            self._parked.append(request)
            self._unpark()

    def _unpark(self) -> None:
        """Give another try to requests for mounts that helpers came back from."""
        if self._parked:
            avoided = self._avoided()
            self._waiting.extend(request for request in self._parked if request.parked_at not in avoided)
            self._parked = [request for request in self._parked if request.parked_at in avoided]

    # Helpers

    def _dismiss(self, helper: Helper) -> None:
        self._leaving.add(helper)
        helper.close()

    def _ended(self, helper: Helper) -> None:
        self._leaving.discard(helper)
        if helper in self._idle:
            self._idle.remove(helper)
        job = self._busy.pop(helper, None)
        if job is None:
            return
        self._unpark()
        job.request.tries += 1
        if not job.request.is_over:
            if job.request.tries < _TRIES:
                self._waiting.append(job.request)
            else:
                job.request.fail("its helper process was killed")
        self._dispatch()

    def _check_soon(self) -> None:
        if not self._is_checking:
            self._is_checking = True
            self._loop.after(_CHECK_S, self._check, "file helpers")

    def _check(self) -> None:
        self._is_checking = False
        now = time.monotonic()
        for helper, job in list(self._busy.items()):
            if not job.is_slow and now - job.begun_at >= _SLOW_S:
                job.is_slow = True
                job.mount = _mount_at(helper.place)
            if now >= job.request.deadline and not job.request.is_over:
                self._give_up(helper, job)
        for request in [*self._waiting, *self._parked]:
            if now >= request.deadline and not request.is_over:
                request.fail(_silence(request.parked_at))
        self._parked = [request for request in self._parked if not request.is_over]
        self._dispatch()
        if self._waiting or self._parked or any(not job.request.is_over for job in self._busy.values()):
            self._check_soon()

    def _give_up(self, helper: Helper, job: _Job) -> None:
        job.mount = _mount_at(helper.place)  # it may have come further
        job.request.fail(_silence(job.mount))
        if job.mount is None:  # it is frozen, or starved
            del self._busy[helper]
            self._leaving.add(helper)
            helper.kill()
        else:
            log(f"{helper.place} does not answer; helper {helper.pid} waits for it")
            for request in self._parked:
                if request.parked_at == job.mount and not request.is_over:
                    request.fail(_silence(job.mount))


def _mount_at(place: str) -> Optional[str]:
    return mount_of(place, read_mounts()) if place else None


def _silence(mount: Optional[str]) -> str:
    return f"{mount} does not answer" if mount else "it does not answer"
