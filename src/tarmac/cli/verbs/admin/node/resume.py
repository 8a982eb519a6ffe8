"""`tarmac node resume`: let jobs start on a drained node again."""

from __future__ import annotations

from tarmac.cli.args.node_names import nodes_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    names, client = nodes_of("node resume", words), connect()
    for name in names:
        client.node(name)  # refuse an unknown name before anything is changed
    resumed = [client.resume_node(name) for name in names]
    if values["json"]:
        out_json(resumed)
        return 0
    for node in resumed:
        closed = "" if node["connected"] else " once it is reachable"
        say(f"jobs may start on {safe(node['name'])} again{closed}")
    return 0


VERB = Verb(
    "node resume",
    "let jobs start on drained nodes again",
    usage=("tarmac node resume NODE… [--json]",),
    run=run,
    options=(JSON,),
    examples=(("tarmac node resume gpu02", "whether a person or Tarmac drained it"),),
    notes=("Jobs that failed there no longer count against the node.",),
)
