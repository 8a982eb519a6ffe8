"""`tarmac node ls`: list the nodes."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import has_colours, out, out_json, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    nodes = connect().nodes()
    if values["json"]:
        out_json(nodes)
        return 0
    from tarmac.cli.render.gpus.node_table import table

    out("\n".join(table(nodes, width=width(), has_colours=has_colours())) + "\n")
    return 0


VERB = Verb(
    "node ls",
    "list the nodes, with their state and what runs there",
    usage=("tarmac node ls [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(
        ("tarmac node ls", "every node"),
        ("tarmac node ls --json | jq '.[].state'", "all fields, as JSON"),
    ),
    notes=(
        "STATE: reachable, rebooted (for ten minutes), drained, unreachable, or needs-login.",
        "removed: no longer configured, but jobs were booked there.",
        "QUEUED: waiting jobs that may run there. A job that may run anywhere counts on every node.",
    ),
)
