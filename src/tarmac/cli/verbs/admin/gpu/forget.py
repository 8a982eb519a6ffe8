"""`tarmac gpu forget`: remove GPUs that are gone from the list."""

from __future__ import annotations

from tarmac.cli.args.gpu_names import gpus_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    forgotten = connect().forget(*gpus_of("gpu forget", words))
    if values["json"]:
        out_json({"gpus": forgotten})
    else:
        say(f"removed {counted(len(forgotten), 'GPU')}" if forgotten else "no GPU is gone")
    return 0


VERB = Verb(
    "gpu forget",
    "remove GPUs that are gone from the list",
    usage=("tarmac gpu forget GPU…|gone [--json]",),
    run=run,
    options=(JSON,),
    examples=(
        ("tarmac gpu forget 3", "it was removed from the machine"),
        ("tarmac gpu forget gone", "every GPU that is gone and that no job holds"),
    ),
    notes=(
        "GPU is an index, a list (0,2 or 0-3), a UUID, or `gone`; `tarmac gpus` shows which are gone.",
        "A GPU that a job still holds cannot be removed.",
        "Its settings (drained, slots) are removed too; if it comes back, it is a new GPU.",
    ),
)
