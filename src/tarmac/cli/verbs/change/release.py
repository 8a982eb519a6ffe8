"""`tarmac release`: release held jobs and drafts into the queue."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, require
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import counted, jobs_are
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.cli.verbs.change.pause import NOTHING_DONE
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    require("release", values, words)
    answer = connect().release(*ids_of(words), **filters_of(values))
    code = NOTHING_DONE if answer["not_held"] and not answer["released"] and words != ["all"] else 0
    if values["json"]:
        out_json(answer)
        return code
    released, others = answer["released"], answer["not_held"]
    if released:
        say(f"released {counted(len(released), 'job')}: {spans(released)}")
    if others and words != ["all"]:
        err(f"tarmac: {jobs_are(others)} neither held nor {'a draft' if len(others) == 1 else 'drafts'}\n")
    if not released and not others:
        err("tarmac: no jobs found; nothing was released\n")
    return code


VERB = Verb(
    "release",
    "release held jobs and drafts into the queue",
    usage=("tarmac release ID… [options]",),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac release 7", "a held job or a draft"),
        ("tarmac release --state draft", "all your drafts"),
    ),
    notes=(IDS_NOTE, "If none of the named jobs is released, the exit code is 1."),
)
