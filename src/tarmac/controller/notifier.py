"""Runs `notify_command` with the event in its environment, without waiting for it."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from tarmac.shared.own import file_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.core.commands import Notify
    from tarmac.core.model.note import Note

log = logging.getLogger(__name__)

LONGEST_S = 60.0
MOST_AT_ONCE = 8


class Notifier:
    """`words` forms the message: sentences are the API's business."""

    def __init__(self, words: Callable[[Note], str]) -> None:
        self._words = words
        self._tasks: set[asyncio.Task[None]] = set()

    def notify(self, command: str, notice: Notify) -> None:
        message = self._words(notice.message)
        log.warning("%s", message)  # so that it can be found later, also without a command
        if not command:
            return
        if len(self._tasks) >= MOST_AT_ONCE:
            log.warning("notification dropped, because %d are under way: %s", MOST_AT_ONCE, message)
            return
        task = asyncio.get_running_loop().create_task(_run(command, notice, message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _run(command: str, notice: Notify, message: str) -> None:
    environment = {
        **os.environ,
        "TARMAC_EVENT": notice.what,
        "TARMAC_MESSAGE": message,
        "TARMAC_JOB_ID": "" if notice.job is None else str(notice.job),
    }
    try:
        process = await asyncio.create_subprocess_exec(
            *file_limit.with_original(["/bin/sh", "-c", command]),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        log.warning("cannot run notify_command: %s", error)
        return
    try:
        async with asyncio.timeout(LONGEST_S):
            code = await process.wait()
    except TimeoutError:
        process.kill()
        log.warning("notify_command took longer than %g s and was killed", LONGEST_S)
    else:
        if code:
            log.warning("notify_command exited with %d for: %s", code, message)
