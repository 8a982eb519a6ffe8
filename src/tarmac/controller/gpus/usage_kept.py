"""What running jobs took so far, as one text in the store: a new controller goes on counting from there."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING

from tarmac.controller.gpus.usage import Integral, JobBook
from tarmac.core.model.ids import JobId

if TYPE_CHECKING:
    from collections.abc import Collection

KEPT_AS = "usage_so_far"  # among the settings in the store, though nobody types it there


def text_of(books: dict[JobId, JobBook]) -> str | None:
    """None where there is nothing to keep."""
    return json.dumps({job: [book.peak_bytes, *astuple(book.work)] for job, book in books.items()}) if books else None


def books_in(kept: str | None, live: Collection[JobId]) -> dict[JobId, JobBook]:
    """Of the jobs that have not ended: what the others took is on disk already."""
    told = {JobId(int(job)): numbers for job, numbers in json.loads(kept or "{}").items()}
    return {job: JobBook(peak_bytes=peak, work=Integral(*work)) for job, (peak, *work) in told.items() if job in live}
