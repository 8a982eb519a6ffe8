"""`tarmac gpu slots`: offer a GPU several times, to jobs that cannot say how much of it they take."""

from __future__ import annotations

from tarmac.cli.args.gpu_names import NOTE, gpus_of, in_words, resolved
from tarmac.cli.args.values import positive
from tarmac.cli.parser import JSON, Verb, shown
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    slots = _number(words)
    named, client = gpus_of("gpu slots", words[:-1]), connect()
    uuids = client.slots(*resolved(client, named), slots=slots)
    if values["json"]:
        out_json({"gpus": uuids, "slots": slots})
    else:
        say(f"{counted(slots, 'job')} at a time on {in_words(named)}")
    return 0


def _number(words: list[str]) -> int:
    if len(words) < 2:
        raise UserError("gpu slots: which GPUs, and how many slots?", "first the GPUs, then the number: `0-3 2`")
    try:
        return positive(words[-1])
    except ValueError as error:
        raise UserError(f"gpu slots: {shown(words[-1])} slots: {error}", "the number stands last: `0-3 2`") from None


VERB = Verb(
    "gpu slots",
    "offer each of these GPUs several times over",
    usage=("tarmac gpu slots GPU… NUMBER [--json]",),
    run=run,
    options=(JSON,),
    examples=(
        ("tarmac gpu slots 0-3 2", "two jobs at a time on each of four GPUs"),
        ("tarmac gpu slots 0-3 1", "as it was: each job has its GPU to itself"),
    ),
    notes=(
        NOTE,
        "Nothing keeps the jobs of one GPU apart: they share its memory, and one that takes too much harms the rest.",
    ),
)
