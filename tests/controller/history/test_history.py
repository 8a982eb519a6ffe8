"""The index follows the database, also after it could not be written."""

import asyncio
import sqlite3
from pathlib import Path
from time import monotonic

import pytest

from tarmac.controller.history.history import LATEST_S, QUIET_S, History
from tests.store.kept import opened


def test_a_removal_that_the_index_refused_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[int]] = []

    def forget(jobs: list[int]) -> None:
        tried.append(list(jobs))
        if len(tried) == 1:
            raise sqlite3.OperationalError("disk I/O error")

    async def follow() -> None:
        history = History(tmp_path / "tarmac.db")
        monkeypatch.setattr(history._index, "forget", forget)
        history.removed([3, 4])
        await history.in_thread(lambda _: history._follow())
        history.removed([5])
        await history.in_thread(lambda _: history._follow())
        await history.in_thread(lambda _: history._follow())
        history.end()

    with opened(tmp_path / "tarmac.db"):
        asyncio.run(follow())
    assert tried == [[3, 4], [3, 4, 5]]


@pytest.mark.parametrize("why", ["quiet", "overdue"])
def test_the_index_lets_commits_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    parts: list[int] = []

    def catch_up(most: int) -> int:
        parts.append(most)
        return 1 if len(parts) < 3 else 0

    async def follow() -> None:
        history = History(tmp_path / "tarmac.db")
        monkeypatch.setattr(history._index, "catch_up", catch_up)
        history._must_end_by = monotonic() + LATEST_S
        history.committed()
        await history.in_thread(lambda _: history._follow())
        await asyncio.sleep(0)
        assert len(parts) == 1
        assert history._next_part is not None
        if why == "quiet":
            history._committed_at -= QUIET_S
        else:
            history._must_end_by = monotonic()
        history._follow_on()
        while len(parts) < 3:
            await history.in_thread(lambda _: None)
        history.end()

    with opened(tmp_path / "tarmac.db"):
        asyncio.run(asyncio.wait_for(follow(), 20))
