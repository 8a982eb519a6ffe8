"""Ended jobs in a store, and what the index of the history finds among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tarmac.core.changes import Changes
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.status import Status, Succeeded, is_ended
from tarmac.store.batch import Batch
from tarmac.store.history.index import HistoryIndex
from tarmac.store.history.search import HistoryFilter, Place, search
from tarmac.store.store import Store
from tests.core.support.builders import a_booking, a_job, a_spec
from tests.store.kept import a_line, changed, commit, new


def ended(number: int, *, at: float | None = None, status: Status | None = None, **spec: Any) -> Job:
    booking = a_booking(0)
    done = Succeeded(booking=booking, pid=1, started_at=100.0, ended_at=100.0 + number if at is None else at)
    job = a_job(number, status=done if status is None else status)
    return replace(job, id=JobId(number), spec=replace(a_spec(), **spec))


def add(store: Store, *jobs: Job) -> None:
    """Those that have ended have a line about it in their stories, as every end has."""
    batch = new(*jobs)
    batch.changes.story += [a_line(job.id, "JobExited") for job in jobs if is_ended(job.status)]
    commit(store, batch)


def change(store: Store, job: Job, kind: str) -> None:
    """Store another status or spec of a job, with a line in its story."""
    batch = changed(job, story=(a_line(job.id, kind),))
    commit(store, Batch(changes=Changes(changed=batch.changes.changed, edited={job.id}, story=batch.changes.story)))


def caught_up(index: HistoryIndex) -> HistoryIndex:
    while index.catch_up(100):
        pass
    return index


def found(index: HistoryIndex, *words: str, limit: int = 100, after: Place | None = None, **more: Any) -> list[int]:
    page = search(caught_up(index), HistoryFilter(words=words, **more), after=after, limit=limit)
    return [place.job for place in page.places]
