"""Answers of the process that sends, as the controller reads them."""

import asyncio
import sys
from pathlib import Path

import pytest

from tarmac.controller.notify.send_process import Problem
from tarmac.controller.notify.sender import LONGEST_LINE_BYTES, Sender

NOISY = """
import sys, time
print("a library prints this")
print("[1]")
print('{"other": 1}')
print('{"ref": 1, "error": null}', flush=True)
sys.stdin.readline()
print("x" * 3_000_000, end="", flush=True)
time.sleep(600)
"""


def test_what_is_not_an_answer_is_skipped_and_a_line_without_an_end_ends_the_process(tmp_path: Path) -> None:
    async def act() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", NOISY, stdin=-1, stdout=-1, limit=LONGEST_LINE_BYTES, start_new_session=True
        )
        sender = Sender(tmp_path, None, lambda _: None)
        sender._process = process
        loop = asyncio.get_running_loop()
        first: asyncio.Future[Problem | None] = loop.create_future()
        second: asyncio.Future[Problem | None] = loop.create_future()
        sender._answers = {1: first, 2: second}
        reading = asyncio.create_task(sender._read(process))
        assert await asyncio.wait_for(first, 60) is None
        assert process.stdin is not None
        process.stdin.write(b"\n")
        with pytest.raises(EOFError):
            await asyncio.wait_for(second, 60)
        await asyncio.wait_for(reading, 60)
        assert sender._process is None, "the next message starts another one"

    asyncio.run(act())
