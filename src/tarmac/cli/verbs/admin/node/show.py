"""`tarmac node show`: everything about one node."""

from __future__ import annotations

from tarmac.cli.args.node_names import node_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import has_colours, out, out_json, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    node = connect().node(node_of("node show", words))
    if values["json"]:
        out_json(node)
        return 0
    from time import time

    from tarmac.cli.render.gpus.node_table import facts

    pairs = list(facts(node, time()))
    wide = max(len(name) for name, _ in pairs)
    for name, text in pairs:
        label = name.ljust(wide)
        out(f"{paint(label, 'dim') if has_colours() else label}  {text}\n")
    return 0


VERB = Verb(
    "node show",
    "show one node",
    usage=("tarmac node show NODE [--json]",),
    run=run,
    options=(JSON,),
    examples=(("tarmac node show gpu02", "its state, since when and why, its agent, its jobs and its memory"),),
    notes=("`tarmac node ls` lists the names.",),
)
