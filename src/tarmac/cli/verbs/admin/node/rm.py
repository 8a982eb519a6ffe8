"""`tarmac node rm`: remove a machine from the queue."""

from __future__ import annotations

from tarmac.cli.args.node_names import node_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    name = node_of("node rm", words)
    gone = connect().remove_node(name)
    if values["json"]:
        out_json(dict(gone))
        return 0
    count = gone["fetched_logs"]
    logs = f"; {count} log{' was' if count == 1 else 's were'} copied to this machine" if count else ""
    say(f"{name} was removed{logs}")
    return 0


VERB = Verb(
    "node rm",
    "remove a node on which no job runs",
    usage=("tarmac node rm NAME",),
    run=run,
    options=(JSON,),
    examples=(("tarmac node rm gpu02", "the logs of its ended jobs are copied to this machine first"),),
    notes=("To empty a node first, run `tarmac node drain NAME` and wait for its jobs.",),
)
