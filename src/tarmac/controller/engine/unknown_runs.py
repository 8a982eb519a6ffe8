"""What the database knows about attempts that a node reports and that no live job has.

The database may be younger than they are (it was replaced) or older (it was restored, or its log was cut). Then ids
have been given to jobs that it does not know. They are recorded as skipped, and new jobs get other ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from tarmac.core.handlers.attempts.taking_in import is_known, job_of
from tarmac.core.model.ids import JobId

if TYPE_CHECKING:
    from tarmac.core.events import NodeJoined, RunOrigin
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import RunName
    from tarmac.core.state import State
    from tarmac.store.reader import Reader

_spans = msgspec.json.Decoder(list[tuple[int, int]])


class SkippedIds:
    """Ranges of ids that this database never gave to a job, because something mentions them already."""

    def __init__(self, stored: str | None) -> None:
        self._spans = [] if stored is None else _spans.decode(stored)

    def add(self, first: int, last: int) -> str | None:
        """The text to store, None if nothing changed."""
        if first > last or (first, last) in self._spans:
            return None
        self._spans = [span for span in self._spans if span[0] != first] + [(first, last)]
        return self.text()

    def text(self) -> str:
        return msgspec.json.encode(self._spans).decode()

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self._spans)


def with_records(event: NodeJoined, state: State, reader: Reader, skipped: SkippedIds) -> NodeJoined:
    """The event with what the store says about the attempts that no live job has."""
    event = _with_guesses(event, state, reader)
    unknown = [origin for origin in event.origins if not is_known(state, event.node, origin)]
    if not unknown:
        return event
    numbers = sorted({origin.run.job for origin in unknown})
    just_now = {number: job for number, job in state.changes.changed.items() if number in numbers}
    stored = {JobId(number): job for number, job in reader.jobs(numbers).items()} | just_now
    given = {number for number in numbers if number < reader.next_id() and number not in skipped}
    free = {origin.run.job for origin in unknown} - given - stored.keys() - state.jobs.keys()
    ended = {origin.run for origin in unknown if _is_stored(origin, event, stored.get(origin.run.job), given, reader)}
    return replace(event, ended=frozenset(ended), free_ids=frozenset(free))


def _with_guesses(event: NodeJoined, state: State, reader: Reader) -> NodeJoined:
    """Turn guesses into origins, except those of live jobs. A guess belongs to the job with its id, if there is one."""
    origins = list(event.origins)
    for guess in event.guesses:
        if job_of(state, event.node, guess.run) is None:
            job = state.jobs.get(guess.run.job) or reader.job(guess.run.job)
            origins.append(guess if job is None else replace(guess, submitted_at=job.submitted_at))
    return replace(event, origins=tuple(origins), guesses=()) if event.guesses else event


def _is_stored(origin: RunOrigin, event: NodeJoined, job: Job | None, given: set[JobId], reader: Reader) -> bool:
    """Is the end of the attempt stored, under its own name or under the one it was taken in with?"""
    if job is not None and job.submitted_at == origin.submitted_at:
        return job.attempt >= origin.run.attempt
    if job is None and origin.run.job in given:
        return True  # the job was removed after its end
    return any(_has(other, event, origin.run) for other in reader.jobs_submitted_at(origin.submitted_at))


def _has(job: Job, event: NodeJoined, run: RunName) -> bool:
    booking = getattr(job.status, "booking", None)
    return booking is not None and event.node in booking.nodes and booking.run == run
