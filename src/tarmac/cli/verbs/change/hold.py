"""`tarmac hold`: hold waiting jobs until they are released."""

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
    require("hold", values, words)
    answer = connect().hold(*ids_of(words), **filters_of(values))
    code = NOTHING_DONE if answer["not_waiting"] and not answer["held"] and words != ["all"] else 0
    if values["json"]:
        out_json(answer)
        return code
    held, others = answer["held"], answer["not_waiting"]
    if held:
        say(f"{counted(len(held), 'job')} held: {spans(held)}; `tarmac release` releases them")
    if others and words != ["all"]:
        err(f"tarmac: {jobs_are(others)} not waiting and cannot be held\n")
    if not held and not others:
        err("tarmac: no jobs found; nothing was held\n")
    return code


VERB = Verb(
    "hold",
    "hold waiting jobs so that they do not start",
    usage=("tarmac hold ID… [options]",),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac hold 7", "until `tarmac release 7`"),
        ("tarmac hold --tag sweep", "the waiting jobs of a sweep"),
    ),
    notes=(
        IDS_NOTE,
        "A held job keeps its place in the queue. Running jobs are not affected.",
        "If none of the named jobs is held, the exit code is 1.",
    ),
)
