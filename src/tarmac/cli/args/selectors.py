"""Job arguments: ids, ranges, `last`, `all`, and filters. The same for every verb that takes jobs."""

from __future__ import annotations

from tarmac.cli.parser import Option, shown
from tarmac.errors import NotFound, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypedDict

    from tarmac.cli.parser import Values
    from tarmac.client import Client

    class Filters(TypedDict, total=False):
        name: str
        tag: str
        state: str | None
        owner: str
        group: str
        node: str

    class Query(Filters):
        ids: str | None


FILTERS = (
    Option("--name", None, "select by name; * and ? are wildcards", "GLOB"),
    Option("--tag", None, "select by tag", "TAG"),
    Option("--state", None, "select by state, several with commas; also waiting, active, ended", "STATE"),
    Option("--owner", None, "select by user", "USER"),
    Option("--group", None, "select an array, sweep or batch, by id or name, or `last`", "GROUP"),
)
MOST_DIGITS = 18  # of an id that the database can hold
FILTER_NAMES = ("name", "tag", "state", "owner", "group")
IDS_NOTE = "ID is a number, a range such as 3-7, `last` (your newest job) or `all`; give one or more."


def ids_of(words: Sequence[str]) -> list[str]:
    """The words, split at commas and checked before a request is sent."""
    ids = [part for word in words for part in word.split(",") if part]
    for word in ids:
        if word not in {"last", "all"} and not is_span(word):
            raise UserError(
                f"{shown(word)} is not a job id",
                f"give an id such as 7 or 3-7, `last` or `all`; to select by name, use --name or --group {shown(word)}",
            )
    return ids


def filters_of(values: Values) -> Filters:
    return {name: values[name] for name in FILTER_NAMES if values[name] is not None}  # type: ignore[return-value]


def query_of(values: Values, words: Sequence[str]) -> Query:
    """The selection as arguments of `client.jobs`."""
    return {"ids": ",".join(ids_of(words)) or None, **filters_of(values)}


def numbers_of(client: Client, values: Values, words: Sequence[str]) -> list[int]:
    """The ids of the selected jobs; `last` by default. Plain numbers need no request."""
    ids, filters = ids_of(words), filters_of(values)
    if not ids and not filters:
        ids = ["last"]
    if not filters and all(word.isdigit() for word in ids):
        return [_number(word) for word in ids]
    from tarmac.client.follow import resolved

    numbers = resolved(client, {"ids": ",".join(ids) or None, **filters})
    if not numbers:
        if not means_all(values, words):
            raise no_match()
        from tarmac.cli.term.terminal import err

        err("tarmac: no jobs found\n")
    return numbers


def means_all(values: Values, words: Sequence[str]) -> bool:
    """True for `all` without a filter, which is not an error if no job exists."""
    return "all" in ids_of(words) and not filters_of(values)


def no_match() -> NotFound:
    return NotFound("no matching jobs", "run `tarmac ls -a` to list all jobs")


def is_given(values: Values, words: Sequence[str]) -> bool:
    return bool(words) or bool(filters_of(values))


def require(verb: str, values: Values, words: Sequence[str]) -> None:
    if not is_given(values, words):
        raise UserError(f"{verb}: no jobs given", f"give ids: `tarmac {verb} 7`, `3-7`, `last`, `all`, or a filter")


def _number(word: str) -> int:
    if len(word) > MOST_DIGITS:
        raise NotFound(f"no job {word[:40]}{'…' if len(word) > 40 else ''}", "run `tarmac ls -a` to list all jobs")
    return int(word)


def is_span(word: str) -> bool:
    first, dash, last = word.partition("-")
    return first.isdecimal() and first.isascii() and (not dash or (last.isdecimal() and last.isascii()))
