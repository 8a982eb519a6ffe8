"""`tarmac node drain`: start no more jobs on a node. Running jobs continue."""

from __future__ import annotations

from tarmac.cli.args.node_names import nodes_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted, safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    names, client = nodes_of("node drain", words), connect()
    for name in names:
        client.node(name)  # refuse an unknown name before anything is changed
    drained = [client.drain_node(name, values["reason"]) for name in names]
    if values["json"]:
        out_json(drained)
        return 0
    for node in drained:
        left = f"; {counted(node['running'], 'running job')} there will finish" if node["running"] else ""
        say(f"no more jobs start on {safe(node['name'])}{left}")
    return 0


VERB = Verb(
    "node drain",
    "start no more jobs on these nodes; running jobs continue",
    usage=("tarmac node drain NODE… [options]",),
    run=run,
    options=(Option("--reason", "-r", "reason, shown to all users", "TEXT"), JSON),
    examples=(
        ("tarmac node drain gpu02 --reason 'new fans'", "shown by `tarmac node ls`, `tarmac gpus` and `tarmac why`"),
        ("tarmac node drain gpu02,gpu03", "two nodes"),
    ),
    notes=("Jobs that can run only there wait until the node is resumed.",),
)
