"""`tarmac queue pause`: start nothing more. What runs goes on, and jobs can still be queued."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

REASON = Option("--reason", "-r", "why, for whoever wonders", "TEXT")


def run(values: Values, _: list[str]) -> int:
    queue = connect().pause_queue(values["reason"])
    if values["json"]:
        out_json(queue)
    else:
        say("nothing more starts until `tarmac queue resume`; what runs goes on")
    return 0


VERB = Verb(
    "queue pause",
    "start nothing more; what runs goes on, and jobs can still be queued",
    usage=("tarmac queue pause [options]",),
    run=run,
    takes_words=False,
    options=(REASON, JSON),
    examples=(("tarmac queue pause --reason 'new driver'", "said in `tarmac ls`, and to jobs that wait"),),
    notes=("A single job: `tarmac hold 7`. Some GPUs: `tarmac gpu drain 0`.",),
)
