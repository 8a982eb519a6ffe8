"""`tarmac move`: move a waiting job to another place among its owner's jobs."""

from __future__ import annotations

from tarmac.cli.args.selectors import number_of
from tarmac.cli.args.values import positive
from tarmac.cli.parser import JSON, Verb, shown
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

LAST = 2**31 - 1  # beyond any possible place


def run(values: Values, words: list[str]) -> int:
    if len(words) != 2:
        raise UserError(
            "move takes a job and a place", "run `tarmac move 7 1`, `tarmac move 7 first` or `tarmac move 7 last`"
        )
    position = _position(words[1])
    client = connect()
    job = number_of(client, "move", words[0])
    answer = client.move(job, position)
    if values["json"]:
        out_json({"id": job, **answer})
    else:
        place, priority = answer["position"], answer["priority"]
        say(f"job {job} has place {place:,} of its owner's waiting jobs, with priority {priority}")
    return 0


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
    "move a waiting job to another place in the queue",
    usage=("tarmac move ID POSITION [--json]",),
    run=run,
    options=(JSON,),
    examples=(
        ("tarmac move 7 1", "the next of your jobs to start"),
        ("tarmac move last first", "the same for your newest job"),
        ("tarmac move 7 last", "after all your other jobs"),
    ),
    notes=(
        "POSITION is a number from 1 among the owner's waiting jobs of the same tier, or `first` or `last`.",
        "If the place needs another priority, the job gets the priority of the job whose place it takes.",
    ),
)
