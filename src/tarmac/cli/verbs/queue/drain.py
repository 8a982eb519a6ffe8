"""`tarmac queue drain`: take no new jobs. What waits is still started, and what runs goes on."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.cli.verbs.queue.pause import REASON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    queue = connect().drain_queue(values["reason"])
    if values["json"]:
        out_json(queue)
    else:
        say("no new jobs are taken until `tarmac queue resume`; what waits still runs: `tarmac wait all`")
    return 0


VERB = Verb(
    "queue drain",
    "take no new jobs; what waits and what runs goes on to its end",
    usage=("tarmac queue drain [options]",),
    run=run,
    takes_words=False,
    options=(REASON, JSON),
    examples=(("tarmac queue drain --reason 'moving house' && tarmac wait all", "until everything has ended"),),
)
