"""Job selectors: `3`, `3-7`, `last`, `all`, and filters by name, tag, state and owner."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from tarmac.core.model.ids import LARGEST_ID
from tarmac.core.model.status import STATUS_TYPES
from tarmac.refusal import invalid, not_found
from tarmac.shared.names import STATE_GROUPS, WAITING
from tarmac.store.reader import JobFilter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.store.groups import Group
    from tarmac.store.reader import Reader

MOST_DIGITS = 100


def job_filter(
    reader: Reader,
    caller: str,
    *,
    ids: Iterable[str] = (),
    state: str | None = None,
    owner: str | None = None,
    name: str | None = None,
    tag: str | None = None,
    group: str | None = None,
    node: str | None = None,
    is_alone: bool = False,
) -> JobFilter:
    """Refuses malformed words and single ids that do not exist."""
    states, is_live = _states(state)
    return JobFilter(
        ids=_spans(reader, caller, list(ids)),
        states=states,
        is_live=is_live,
        owner=owner,
        name=name,
        tag=tag,
        group=None if group is None else group_named(reader, caller, group).span,
        node=node,
        is_alone=is_alone,
    )


def group_named(reader: Reader, caller: str, word: str) -> Group:
    """The group with this id or name; `last`: the newest one of the caller."""
    groups = reader.groups
    if word == "last":
        found = groups.newest_of(caller)
    elif _is_number(word):
        found = groups.find(min(_id(word), LARGEST_ID))
    else:
        found = groups.named(word, caller)
    if found is not None:
        return found
    if word == "last":
        raise not_found("groups.no_last")
    if _is_number(word):
        raise not_found("groups.unknown_id", group=word, of_job=groups.group_of(min(_id(word), LARGEST_ID)))
    meant = get_close_matches(word, groups.names(), n=1)
    raise not_found("groups.unknown_name", group=word, meant=meant[0] if meant else None)


def job_number(reader: Reader, caller: str, word: str) -> int:
    """The id of the single job that a word selects."""
    if word not in {"last", "all"} and _bounds(word) is None:
        raise invalid("job.not_an_id", word=word)
    if word == "all" or len(span := _span(reader, caller, word)) != 1:
        raise invalid("jobs.more_than_one", word=word)
    return span.start


def _spans(reader: Reader, caller: str, words: list[str]) -> tuple[range, ...] | None:
    if not words or "all" in words:
        return None
    spans = tuple(_span(reader, caller, word) for word in words)
    wanted = {span.start for span in spans if len(span) == 1}
    missing = sorted(wanted - set(reader.select_ids(JobFilter(ids=spans)))) if wanted else []
    if missing:
        raise not_found("jobs.unknown", jobs=missing)
    return spans


def _span(reader: Reader, caller: str, word: str) -> range:
    if word == "last":
        newest = reader.newest_of(caller)
        if newest is None:
            raise not_found("jobs.no_last")
        return range(newest, newest + 1)
    bounds = _bounds(word)
    if bounds is None:
        raise invalid("jobs.not_an_id", word=word)
    start, stop = bounds
    if max(start, stop) > LARGEST_ID:
        raise invalid("jobs.id_too_large", word=word)
    if stop < start:
        raise invalid("jobs.not_a_range", word=word, start=start, stop=stop)
    return range(start, stop + 1)


def _bounds(word: str) -> tuple[int, int] | None:
    """First and last id of `3` and `3-7`; None for other words."""
    first, dash, last = word.partition("-")
    if not _is_number(first) or (dash and not _is_number(last)):
        return None
    return _id(first), _id(last if dash else first)


def _id(digits: str) -> int:
    """int() refuses thousands of digits."""
    return int(digits) if len(digits) <= MOST_DIGITS else LARGEST_ID + 1


def _is_number(text: str) -> bool:
    """Accepts ASCII digits only, though int() also reads the digits of other scripts."""
    return text.isdecimal() and text.isascii()


def _states(words: str | None) -> tuple[tuple[str, ...], bool | None]:
    """The states that were named, or whether the job may be live instead. An `unknown` job can be either."""
    if not words:
        return (), None
    named = [word.strip() for word in words.split(",")]
    for word in named:
        if word not in STATUS_TYPES and word not in STATE_GROUPS:
            raise invalid("jobs.unknown_state", state=word, known=[*STATUS_TYPES, *STATE_GROUPS])
    if {"active", "ended"} <= {*named}:
        return (), None
    is_live = True if "active" in named else False if "ended" in named else None
    expanded = [state for word in named for state in (WAITING if word == "waiting" else (word,))]
    return tuple(state for state in dict.fromkeys(expanded) if state in STATUS_TYPES), is_live
