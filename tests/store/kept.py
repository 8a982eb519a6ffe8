"""A store that tests commit to and wait for."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tarmac.core.changes import Changes, StoryLine
from tarmac.core.events import Event
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.store.batch import Batch
from tarmac.store.database.database import connect_reader
from tarmac.store.store import Store

DEADLINE_S = 20.0


def faults(path: Path) -> list[str]:
    """Faults that SQLite finds in the file; empty if it is sound. Reads the whole file."""
    try:
        reader = connect_reader(path)
        try:
            found = [row[0] for row in reader.execute("PRAGMA quick_check(5)")]
        finally:
            reader.close()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [] if found == ["ok"] else found


def commit(store: Store, batch: Batch) -> None:
    """Commit and wait until it is on disk. Raises the writer's error."""
    said: list[Exception | None] = []
    is_done = threading.Event()

    def done(error: Exception | None) -> None:
        said.append(error)
        is_done.set()

    store.commit(batch, done)
    assert is_done.wait(DEADLINE_S), "the writer does not answer"
    if said[0] is not None:
        raise said[0]


def new(*jobs: Job, **more: Any) -> Batch:
    return Batch(changes=Changes(new=list(jobs)), **more)


def changed(*jobs: Job, story: tuple[StoryLine, ...] = ()) -> Batch:
    return Batch(changes=Changes(changed={job.id: job for job in jobs}, story=list(story)))


def removed(*numbers: int) -> Batch:
    return Batch(changes=Changes(), removed=[JobId(number) for number in numbers])


def a_line(job: int, kind: str, *, at: float = 1.0, attempt: int = 1, **detail: Any) -> StoryLine:
    return StoryLine(job=JobId(job), attempt=attempt, at=at, kind=kind, detail=detail)


def happen(store: Store, event: Event, now: float = 1000.0) -> None:
    """Handle one event and commit its changes, like the controller."""
    state = store.load()
    handle(state, event, now)
    commit(store, Batch(changes=state.take_changes()))


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    store = Store(path)
    try:
        yield store
    finally:
        store.close()
