"""`tarmac gpu resume`: use a drained GPU again, whether a person or Tarmac drained it."""

from __future__ import annotations

from tarmac.cli.args.gpu_names import NOTE, gpus_of, in_words, resolved
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    named, client = gpus_of("gpu resume", words), connect()
    resumed = client.resume(*resolved(client, named))
    if values["json"]:
        out_json({"gpus": resumed})
    else:
        say(f"jobs may start on {in_words(named)} again")
    return 0


VERB = Verb(
    "gpu resume",
    "use drained GPUs again",
    usage=("tarmac gpu resume GPU… [--json]",),
    run=run,
    options=(JSON,),
    examples=(
        ("tarmac gpu resume 0", "one GPU"),
        ("tarmac gpu resume all", "every GPU that was drained"),
    ),
    notes=(
        NOTE,
        "A GPU that does not answer is checked again at once.",
        "An unhealthy GPU cannot be resumed; it is used again automatically once it has been healthy for a while.",
    ),
)
