"""`tarmac rm`: remove jobs that wait or have ended, with their output in the state directory."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, require
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    require("rm", values, words)
    removed = connect().rm(*ids_of(words), **filters_of(values))
    if values["json"]:
        out_json({"removed": removed})
    else:
        say(f"removed {counted(len(removed), 'job')}{': ' if removed else ''}{spans(removed)}")
    return 0


VERB = Verb(
    "rm",
    "remove waiting and ended jobs from the list",
    usage=("tarmac rm ID… [options]",),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac rm 3-7", "these jobs"),
        ("tarmac rm all --state ended", "all ended jobs"),
    ),
    notes=(IDS_NOTE, "Waiting jobs are cancelled and removed. Running jobs cannot be removed; kill them first."),
)
