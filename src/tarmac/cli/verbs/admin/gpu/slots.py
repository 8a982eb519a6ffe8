"""`tarmac gpu slots`: let several jobs use a GPU at once, without a request for memory or a share."""

from __future__ import annotations

from tarmac.cli.args.gpu_names import NOTE, gpus_of, in_words, resolved
from tarmac.cli.parser import JSON, Verb, shown
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError
from tarmac.typed.values import positive

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
        say(f"{counted(slots, 'job')} at once on {in_words(named)}")
    return 0


def _number(words: list[str]) -> int:
    if len(words) < 2:
        raise UserError("gpu slots takes GPUs and a number", "give the GPUs first, then the number: `0-3 2`")
    try:
        return positive(words[-1])
    except ValueError as error:
        raise UserError(f"gpu slots: {shown(words[-1])} slots: {error}", "the number comes last: `0-3 2`") from None


VERB = Verb(
    "gpu slots",
    "let several jobs use each of these GPUs at once",
    usage=("tarmac gpu slots GPU… NUMBER [--json]",),
    run=run,
    options=(JSON,),
    examples=(
        ("tarmac gpu slots 0-3 2", "two jobs at a time on each of four GPUs"),
        ("tarmac gpu slots 0-3 1", "the default: each job has its GPU exclusively"),
    ),
    notes=(
        NOTE,
        "Jobs on one GPU are not isolated: they share its memory, and one that uses too much harms the others.",
    ),
)
