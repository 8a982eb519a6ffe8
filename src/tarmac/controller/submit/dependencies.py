"""Dependencies as users write them: `7`, `7:any`, `#0:ok` for the first job of the same submit.

Unknown jobs are refused, and so are circles: their jobs would wait for each other forever.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, assert_never, cast

from tarmac.controller.requests.selectors import job_number
from tarmac.core.events import JobEdited, JobsRetried, JobsSubmitted
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import After
from tarmac.core.model.status import Succeeded
from tarmac.refusal import Refused, invalid, not_found
from tarmac.shared.names import CONDITIONS
from tarmac.shared.numbers import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.model.names import Condition, Outcome
    from tarmac.core.state import State
    from tarmac.store.reader import Reader

Ended: TypeAlias = "tuple[tuple[JobId, Outcome], ...]"


class Dependencies:
    """Reads words into jobs. Remembers what it found: an array repeats the same words a hundred thousand times."""

    def __init__(self, state: State, reader: Reader, caller: str, *, siblings: int = 0) -> None:
        self._state = state
        self._reader = reader
        self._caller = caller
        self._siblings = siblings
        self._known: dict[str, After] = {}

    def read(self, words: Iterable[str]) -> tuple[After, ...]:
        """Refuses malformed words and jobs that do not exist."""
        found = tuple(dict.fromkeys(self._after(word) for word in words))
        _refuse_opposites(found)
        return found

    def _after(self, word: str) -> After:
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._read(word)
        return known

    def _read(self, word: str) -> After:
        which, _, on = word.partition(":")
        on = on or "ok"
        if on not in CONDITIONS:
            raise invalid("after.unknown_outcome", word=word, outcome=on)
        job = self._sibling(word, which) if which.startswith("#") else self._job(which)
        return After(job=job, on=cast("Condition", on))

    def _sibling(self, word: str, which: str) -> JobId:
        number = whole_number(which[1:])
        if number is None or number >= self._siblings:
            if not self._siblings:
                raise invalid("after.no_siblings", word=word)
            raise invalid("after.unknown_sibling", word=word, last=self._siblings - 1 or None)
        return JobId(-(number + 1))

    def _job(self, which: str) -> JobId:
        number = JobId(job_number(self._reader, self._caller, which))
        if number not in self._state.jobs and self._reader.job(number) is None:
            raise not_found("after.unknown_job", job=number)
        return number


def _refuse_opposites(found: tuple[After, ...]) -> None:
    """A job that waits for another to succeed and to fail would never start."""
    wanted = {after.job for after in found if after.on == "ok"}
    for after in found:
        if after.on == "fail" and after.job in wanted:
            name = after.job if after.job > 0 else f"#{-after.job - 1}"
            raise invalid("after.opposites", job=name)


def refuse_circle_of_new(specs: Sequence[JobSpec]) -> None:
    """Check the jobs of one submit, which may name each other."""
    waits = {
        number: [-after.job - 1 for after in spec.after if after.job < 0]
        for number, spec in enumerate(specs)
        if spec.after
    }
    if (circle := _circle(waits, waits)) is not None:
        raise _in_a_circle([f"#{number}" for number in circle])


def refuse_circle_with(state: State, after: Mapping[JobId, Sequence[After]]) -> None:
    """Check an edit, which gives jobs these dependencies: what they name may already wait for them."""
    waits: dict[int, list[int]] = {
        one.id: [other.job for other in one.spec.after] for one in state.jobs.values() if one.spec.after
    }
    waits |= {number: [other.job for other in named] for number, named in after.items()}
    if (circle := _circle(waits, after)) is not None:
        raise _in_a_circle([str(number) for number in circle])


def _in_a_circle(names: list[str]) -> Refused:
    shown = names if len(names) <= 8 else [*names[:7], "…"]
    return invalid("after.circle", circle=[*shown, names[0]])


def _circle(waits: dict[int, list[int]], starts: Iterable[int]) -> list[int] | None:
    """Jobs of which each waits for the next, and the last for the first. Not recursive: chains may be long."""
    done: set[int] = set()
    for start in starts:
        path: dict[int, int] = {}  # job -> how many of its dependencies were visited
        current: int | None = start
        while current is not None:
            visited = path.setdefault(current, 0)
            others = waits.get(current, [])
            if current in done or visited == len(others):
                done.add(current)
                path.pop(current)
                current = next(reversed(path), None)
                continue
            path[current] = visited + 1
            current = others[visited]
            if current in path:
                way = list(path)
                return way[way.index(current) :]
    return None


def with_outcomes(
    event: JobsSubmitted | JobEdited | JobsRetried, state: State, reader: Reader
) -> JobsSubmitted | JobEdited | JobsRetried:
    """The event with the outcomes of those named jobs that have ended by the time it is decided."""
    specs = _specs(event)
    named = {after.job for spec in specs for after in spec.after if after.job > 0 and after.job not in state.jobs}
    if not named:
        return event
    just_now = {number: job for number, job in state.changes.changed.items() if number in named}
    kept = reader.jobs(sorted(named - set(just_now)))
    ended: Ended = tuple(
        (number, outcome(just_now[number] if number in just_now else kept.get(number))) for number in sorted(named)
    )
    return replace(event, ended=ended)


def _specs(event: JobsSubmitted | JobEdited | JobsRetried) -> Sequence[JobSpec]:
    match event:
        case JobsSubmitted():
            return event.specs
        case JobsRetried():
            return [job.spec for job in event.jobs]
        case JobEdited():
            return (event.spec, *(spec for _, spec in event.more))
        case _:
            assert_never(event)


def outcome(job: Job | None) -> Outcome:
    return "ok" if job is not None and isinstance(job.status, Succeeded) else "fail"
