"""The controller's end of the process that sends: starts it when there is something to send, and ends it again."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.controller.notify.send_process import LONGEST_S, Problem
from tarmac.shared.own import file_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

log = logging.getLogger(__name__)

IDLE_S = 30.0  # then the process is ended; it takes some memory
PATIENCE_S = LONGEST_S + 10.0  # the process itself gives up earlier
LONGEST_LINE_BYTES = 1 << 20


class Message(NamedTuple):
    title: str
    body: str
    kind: str  # info, success, warning or failure; some services choose a colour by it


class Sender:
    """`on_sent` is told which notifications an earlier process has sent already, before anything else is sent."""

    def __init__(self, state_folder: Path, proxy: str | None, on_sent: Callable[[list[str]], None]) -> None:
        self._state_folder = state_folder
        self._proxy = proxy
        self._on_sent = on_sent
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Lock = asyncio.Lock()
        self._answers: dict[int, asyncio.Future[Problem | None]] = {}
        self._reader: asyncio.Task[None] | None = None
        self._last_ref = 0
        self._timer: asyncio.TimerHandle | None = None

    async def start(self) -> Problem | None:
        """Start the process, unless it runs. Afterwards `on_sent` knows everything."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._running()
        except TimeoutError:
            return Problem(kind="timeout", text=f"{PATIENCE_S:g}")
        except (OSError, EOFError) as error:
            return Problem(kind="broken", text=str(error))
        self._end_later()
        return None

    async def send(self, url: str, message: Message, tokens: Sequence[str] = ()) -> Problem | None:
        """None once it is sent. Never raises: what goes wrong is a problem."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                process = await self._running()
                self._last_ref += 1
                ref = self._last_ref
                answer: asyncio.Future[Problem | None] = asyncio.get_running_loop().create_future()
                self._answers[ref] = answer
                try:
                    self._write(
                        process,
                        {"ref": ref, "url": url, "proxy": self._proxy, "tokens": list(tokens), **message._asdict()},
                    )
                    return await answer
                finally:
                    self._answers.pop(ref, None)
                    self._end_later()
        except TimeoutError:
            return Problem(kind="timeout", text=f"{PATIENCE_S:g}")
        except (OSError, EOFError) as error:
            return Problem(kind="broken", text=str(error))

    def forget(self, tokens: Sequence[str]) -> None:
        """Remove these from the journal, because the database now says that they were sent."""
        if self._process is not None:
            with suppress(OSError):
                self._write(self._process, {"forget": list(tokens)})

    def kill(self) -> None:
        """End it at once, with what is under way."""
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, 9)  # with its forks
            self._process = None
        if self._reader is not None:
            self._reader.cancel()

    async def _running(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._timer is not None:
                self._timer.cancel()
            if self._process is None:
                self._process = await self._started()
            return self._process

    async def _started(self) -> asyncio.subprocess.Process:
        """Returns once it has reported what was sent before."""
        argv = [sys.executable, "-m", "tarmac.controller.notify.send_process", str(self._state_folder)]
        process = await asyncio.create_subprocess_exec(
            *file_limit.with_original(argv),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE_BYTES,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            while (words := await _line(process.stdout)) is not None and "ready" not in words:
                self._on_sent(words["sent"])
            if words is None:
                raise EOFError("it ended as it started")
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            raise
        self._reader = asyncio.create_task(self._read(process))
        return process

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while (words := await _line(process.stdout)) is not None:
                answer = self._answers.get(words.get("ref", 0))
                if answer is not None and not answer.done():
                    answer.set_result(words.get("error"))
        except ValueError as error:  # a line without an end
            log.warning("the process that sends notifications is ended: %s", error)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
        code = await process.wait()
        if self._process is not process:  # it was asked to end; the answers are those of its successor
            return
        self._process = None
        if self._answers:
            log.warning("the process that sends notifications ended with %d", code)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(EOFError(f"it ended with {code}"))

    def _write(self, process: asyncio.subprocess.Process, words: dict[str, Any]) -> None:
        assert process.stdin is not None
        if process.stdin.is_closing():
            raise EOFError("it ended")
        process.stdin.write(json.dumps(words).encode() + b"\n")

    def _end_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._answers:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S, self._end)

    def _end(self) -> None:
        """It ends when its input does."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()


async def _line(stream: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next answer; None at the end. What a library prints is skipped."""
    while (line := await stream.readline()).endswith(b"\n"):
        try:
            words = json.loads(line)
        except ValueError:
            words = None
        if isinstance(words, dict):
            return words
        log.warning("the process that sends notifications printed: %.200r", line)
    return None
