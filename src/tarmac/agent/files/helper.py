"""One helper process and the agent's handle on it. It serves one request at a time and ends with the agent."""

from __future__ import annotations

import os
import signal
import socket
from typing import TYPE_CHECKING, Callable, List, NoReturn, Optional

from tarmac.agent.files.trail import Trail
from tarmac.agent.files.work import Worker
from tarmac.agent.loop import READ, WRITE, Loop, log
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.shared.own import process_title
from tarmac.shared.protocol import Decoder, ProtocolError, decode, encode, read_frame
from tarmac.shared.system import kernel

if TYPE_CHECKING:
    from tarmac.shared.frames.base import AnyFrame

_RECEIVE_BYTES = 65536


class Helper:
    def __init__(
        self,
        loop: Loop,
        inotify_fd: Optional[int],
        state: str,
        on_answer: Callable[[Helper, bytes], None],
        on_end: Callable[[Helper], None],
    ) -> None:
        """Raises OSError if no process can be forked. `on_answer` gets the frame as it arrived."""
        self._loop = loop
        self._on_answer = on_answer
        self._on_end = on_end
        self._trail = Trail()
        self._decoder = Decoder()
        self._unsent = b""
        ours, theirs = socket.socketpair()
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _become_helper(theirs.fileno(), inotify_fd, self._trail, state)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._channel: Optional[socket.socket] = ours
        loop.watch(ours.fileno(), self._ready, "file helper")
        ProcessWatch(loop, self.pid, None, self._ended, "file helper")

    def send(self, request: AnyFrame, avoid: List[str]) -> None:
        self._unsent = encode({**request, "avoid": avoid})
        self._flush()

    @property
    def place(self) -> str:
        """The path it touches, or touched last; empty if it does not work on a request."""
        return self._trail.read()

    def close(self) -> None:
        """Without its channel it ends, as soon as it can."""
        if self._channel is not None:
            self._loop.unwatch(self._channel.fileno())
            self._channel.close()
            self._channel = None

    def kill(self) -> None:
        self.close()
        os.kill(self.pid, signal.SIGKILL)

    def _flush(self) -> None:
        if self._channel is None:
            return
        try:
            self._unsent = self._unsent[self._channel.send(self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent = b""  # it was killed, which its watch reports
        self._loop.change(self._channel.fileno(), READ | (WRITE if self._unsent else 0))

    def _ready(self) -> None:
        if self._unsent:
            self._flush()
        if self._channel is None:
            return
        try:
            data = self._channel.recv(_RECEIVE_BYTES)
            frames = self._decoder.split(data)
        except BlockingIOError:
            return
        except (OSError, ProtocolError):
            data, frames = b"", []
        for frame in frames:
            self._on_answer(self, frame)
        if not data:
            self.close()

    def _ended(self) -> None:
        os.waitpid(self.pid, 0)
        self.close()
        self._on_end(self)


def _become_helper(channel_fd: int, inotify_fd: Optional[int], trail: Trail, state: str) -> NoReturn:
    try:
        kernel.die_with_parent()
        kernel.close_all_but(channel_fd, *([] if inotify_fd is None else [inotify_fd]))
        kernel.set_name(b"tarmac-files")
        process_title.change("tarmac: file helper")
        worker = Worker(trail, inotify_fd, state)
        while True:
            request = read_frame(channel_fd)
            if not request:
                os._exit(0)
            answer = memoryview(encode(worker.perform(decode(request))))
            while answer:
                answer = answer[os.write(channel_fd, answer) :]
    except ConnectionError:
        os._exit(0)  # the agent ended, or gave up on this helper, before it read the answer
    except BaseException as error:  # noqa: BLE001  the outermost frame of a process
        log(f"file helper: {type(error).__name__}: {error}")
    finally:
        os._exit(1)
