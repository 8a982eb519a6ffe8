"""Which jobs somebody means: `3`, `3-7`, `last`, `all`, and filters by name, tag, state and owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model.status import STATUS_TYPES
from tarmac.errors import NotFound, UserError
from tarmac.store.reader import JobFilter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.store.reader import Reader

LARGEST_ID = 2**62


def job_filter(
    reader: Reader,
    caller: str,
    *,
    ids: Iterable[str] = (),
    state: str | None = None,
    owner: str | None = None,
    name: str | None = None,
    tag: str | None = None,
) -> JobFilter:
    """Raises UserError for words that mean nothing, NotFound for single ids that don't exist."""
    states, is_live = _states(state)
    return JobFilter(
        ids=_spans(reader, caller, list(ids)), states=states, is_live=is_live, owner=owner, name=name, tag=tag
    )


def job_number(reader: Reader, caller: str, word: str) -> int:
    """The one job that a word means."""
    span = _span(reader, caller, word)
    if len(span) != 1:
        raise UserError(f"{word!r} is more than one job", hint="give a single id, or `last`")
    return span.start


def _spans(reader: Reader, caller: str, words: list[str]) -> tuple[range, ...] | None:
    if not words or "all" in words:
        return None
    spans = tuple(_span(reader, caller, word) for word in words)
    wanted = {span.start for span in spans if len(span) == 1}
    missing = sorted(wanted - set(reader.select_ids(JobFilter(ids=spans)))) if wanted else []
    if missing:
        noun = "job" if len(missing) == 1 else "jobs"
        raise NotFound(
            f"no {noun} {', '.join(map(str, missing))}", hint="`tarmac ls -a` lists every job that is remembered"
        )
    return spans


def _span(reader: Reader, caller: str, word: str) -> range:
    if word == "last":
        newest = reader.newest_of(caller)
        if newest is None:
            raise NotFound("there is no last job: you have not submitted any", hint="tarmac add -- CMD… queues one")
        return range(newest, newest + 1)
    first, dash, last = word.partition("-")
    if not _is_number(first) or (dash and not _is_number(last)):
        raise UserError(f"{word!r} is no job id", hint="give ids such as 7, ranges such as 3-7, `last` or `all`")
    start, stop = int(first), int(last if dash else first)
    if stop < start or stop > LARGEST_ID:
        raise UserError(f"{word!r} is no range of job ids", hint=f"ranges count upwards: {stop}-{start}?")
    return range(start, stop + 1)


def _is_number(text: str) -> bool:
    """In plain digits: those of other scripts would be taken for the same job by some and for none by others."""
    return text.isdecimal() and text.isascii()


def _states(words: str | None) -> tuple[tuple[str, ...], bool | None]:
    """`active` and `ended` stand for what they say; an `unknown` job may be either."""
    if not words:
        return (), None
    if words in {"active", "ended"}:
        return (), words == "active"
    states = tuple(word.strip() for word in words.split(","))
    for state in states:
        if state not in STATUS_TYPES:
            known = ", ".join([*STATUS_TYPES, "active", "ended"])
            raise UserError(f"{state!r} is no state of a job", hint=f"states are: {known}")
    return states, None
