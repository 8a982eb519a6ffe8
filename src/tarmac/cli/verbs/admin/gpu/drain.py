"""`tarmac gpu drain`: start no more jobs on a GPU. Running jobs continue."""

from __future__ import annotations

from tarmac.cli.args.gpu_names import NOTE, gpus_of, in_words, resolved
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    named, client = gpus_of("gpu drain", words), connect()
    drained = client.drain(*resolved(client, named), reason=values["reason"])
    if values["json"]:
        out_json({"gpus": drained})
    else:
        say(f"no more jobs start on {in_words(named)}; running jobs continue")
    return 0


VERB = Verb(
    "gpu drain",
    "start no more jobs on these GPUs; running jobs continue",
    usage=("tarmac gpu drain GPU… [options]",),
    run=run,
    options=(Option("--reason", "-r", "reason, shown to all users", "TEXT"), JSON),
    examples=(
        ("tarmac gpu drain 0 --reason 'new fan'", "shown by `tarmac gpus` and `tarmac why`"),
        ("tarmac gpu drain 4-7", "keep four GPUs for other uses"),
    ),
    notes=(NOTE, "Jobs that are pinned to a drained GPU wait until it is resumed."),
)
