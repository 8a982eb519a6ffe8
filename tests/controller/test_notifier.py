import asyncio
import logging
from pathlib import Path

import pytest

from tarmac.controller.notifier import Notifier
from tarmac.core.commands import Notify
from tarmac.core.model.ids import JobId
from tarmac.core.model.note import Note, note

MESSAGE = "job 7: it's $idle; `touch x`"
NOTICE = Notify(what="job-warned", message=note("notice.job_warned", job=7), job=JobId(7))


def words(_: Note) -> str:
    return MESSAGE


def notified(command: str, notice: Notify = NOTICE) -> None:
    async def notify() -> None:
        notifier = Notifier(words)
        notifier.notify(command, notice)
        await asyncio.gather(*notifier._tasks)

    asyncio.run(notify())


def test_the_command_gets_the_message_in_its_environment_unchanged(tmp_path: Path) -> None:
    out = tmp_path / "out"
    notified(f'printf "%s|%s|%s" "$TARMAC_EVENT" "$TARMAC_JOB_ID" "$TARMAC_MESSAGE" > {out}')
    assert out.read_text() == "job-warned|7|job 7: it's $idle; `touch x`"


def test_a_command_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        notified("exit 3")
    assert "exited with 3" in caplog.text


def test_without_a_command_the_message_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    notifier = Notifier(words)
    notifier.notify("", NOTICE)
    assert notifier._tasks == set()
    assert MESSAGE in caplog.text
