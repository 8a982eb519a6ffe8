"""`tarmac queue drain`: accept no new jobs. Waiting jobs still start, and running jobs continue."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.cli.verbs.admin.queue.pause import REASON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    queue = connect().drain_queue(values["reason"])
    if values["json"]:
        out_json(queue)
    else:
        say("no new jobs are accepted until `tarmac queue resume`; waiting jobs still run")
    return 0


VERB = Verb(
    "queue drain",
    "accept no new jobs; waiting and running jobs continue",
    usage=("tarmac queue drain [options]",),
    run=run,
    takes_words=False,
    options=(REASON, JSON),
    examples=(("tarmac queue drain --reason 'server move' && tarmac wait all", "wait until all jobs have ended"),),
)
