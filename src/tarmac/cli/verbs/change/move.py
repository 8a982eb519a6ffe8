"""`tarmac move`: move waiting jobs to another place among their owner's jobs."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, is_given
from tarmac.cli.parser import JSON, Verb, shown
from tarmac.cli.render.text import jobs_are
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import UserError
from tarmac.typed.values import positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.cli.args.selectors import Filters
    from tarmac.cli.parser import Values
    from tarmac.client import Client

SHOWN = 10  # moved jobs that are named
LAST = 2**31 - 1  # beyond any possible place


def run(values: Values, words: list[str]) -> int:
    if not words or not is_given(values, words[:-1]):
        raise UserError(
            "move takes jobs and a place", "run `tarmac move 7 1`, `tarmac move 7 first` or `tarmac move --tag a last`"
        )
    position, ids = _position(words[-1]), ids_of(words[:-1])
    client = connect()
    answer = _moved(client, ids, filters_of(values), position)
    moved, others = answer["moved"], answer["not_waiting"]
    if not moved and others:
        raise UserError(
            f"move: {jobs_are(others)} not waiting; nothing was moved", "run `tarmac ls` to see which jobs wait"
        )
    if values["json"]:
        out_json(answer)
        return 0
    if not moved:
        err("tarmac: no jobs found; nothing was moved\n")
    for job in moved[:SHOWN]:
        place, priority = job["position"], job["priority"]
        say(f"job {job['id']} has place {place:,} of its owner's waiting jobs, with priority {priority}")
    if len(moved) > SHOWN:
        say(f"… and {len(moved) - SHOWN} more")
    if others and ids != ["all"]:
        err(f"tarmac: {jobs_are(others)} not waiting and cannot be moved\n")
    return 0


def _moved(client: Client, ids: list[str], filters: Filters, position: int) -> dict[str, list[Any]]:
    """A single job that cannot be moved is refused with the reason."""
    if len(ids) != 1 or filters or not (ids[0].isdecimal() or ids[0] == "last"):
        return client.move_many(*ids, position=position, **filters)
    job = client.number_of(ids[0])
    return {"moved": [{"id": job, **client.move(job, position)}], "not_waiting": []}


def _position(word: str) -> int:
    if word in {"first", "last"}:
        return 1 if word == "first" else LAST
    try:
        return positive(word)
    except ValueError as error:
        raise UserError(
            f"move: {shown(word)} is not a place: {error}", "1 or `first` is next; `last` is after all others"
        ) from None


VERB = Verb(
    "move",
    "move waiting jobs to another place in the queue",
    usage=("tarmac move [ID…] POSITION [options]",),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac move 7 1", "the next of your jobs to start"),
        ("tarmac move last first", "the same for your newest job"),
        ("tarmac move 7 last", "after all your other jobs"),
        ("tarmac move --tag sweep first", "these jobs, in their order, before all others"),
    ),
    notes=(
        IDS_NOTE,
        "POSITION is a number from 1 among the owner's waiting jobs of the same tier, or `first` or `last`.",
        "If the place needs another priority, the job gets the priority of the job whose place it takes.",
    ),
)
