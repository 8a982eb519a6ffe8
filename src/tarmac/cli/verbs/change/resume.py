"""`tarmac resume`: let paused jobs go on."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, require
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.cli.verbs.change.pause import HELD, NOTHING_DONE
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    require("resume", values, words)
    answer = connect().resume_jobs(*ids_of(words), **filters_of(values))
    resumed = answer["resumed"]
    code = 0 if resumed or words == ["all"] else NOTHING_DONE
    if values["json"]:
        out_json(answer)
        return code
    if resumed:
        say(f"{counted(len(resumed), 'job')} resumed: {spans(resumed)}")
    if words != ["all"]:
        for job in answer["not_paused"]:
            number, state = job["id"], job["state"]
            hint = f"; run `tarmac release {number}` to queue it" if state in HELD else ""
            err(f"tarmac: job {number} is not paused ({state}){hint}\n")
    elif not resumed:
        err("tarmac: no job is paused; nothing was resumed\n")
    return code


VERB = Verb(
    "resume",
    "continue paused jobs",
    usage=("tarmac resume ID… [options]",),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac resume 7", "after `tarmac pause 7`"),
        ("tarmac resume --owner ann --state paused", "all paused jobs of ann"),
    ),
    notes=(
        IDS_NOTE,
        "If none of the named jobs is resumed, the exit code is 1.",
        "To end a pause of the queue, use `tarmac queue resume`; to use a GPU again, `tarmac gpu resume`.",
    ),
)
