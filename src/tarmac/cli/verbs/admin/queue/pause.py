"""`tarmac queue pause`: start no more jobs. Running jobs continue, and jobs can still be queued."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

REASON = Option("--reason", "-r", "reason, shown to all users", "TEXT")


def run(values: Values, _: list[str]) -> int:
    queue = connect().pause_queue(values["reason"])
    if values["json"]:
        out_json(queue)
    else:
        say("no more jobs start until `tarmac queue resume`; running jobs continue")
    return 0


VERB = Verb(
    "queue pause",
    "start no more jobs; running jobs continue, new jobs are queued",
    usage=("tarmac queue pause [options]",),
    run=run,
    takes_words=False,
    options=(REASON, JSON),
    examples=(("tarmac queue pause --reason 'new driver'", "shown by `tarmac ls` and `tarmac why`"),),
    notes=(
        "To hold a single job, use `tarmac hold 7`; to freeze a running one, `tarmac pause 7`.",
        "To stop using some GPUs, use `tarmac gpu drain 0`.",
    ),
)
