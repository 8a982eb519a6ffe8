"""`tarmac retry`: run ended jobs again, each as the next attempt of the same job."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, require
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted, safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.cli.verbs.change.pause import NOTHING_DONE
from tarmac.errors import UserError
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if not values["failed"]:
        require("retry", values, words)
    elif values["state"] is not None:
        raise UserError("retry: --failed and --state both select jobs by state", "leave out one of them")
    answer = connect().retry(*ids_of(words), failed=values["failed"], **filters_of(values))
    code = NOTHING_DONE if answer["not_retried"] and not answer["retried"] and words != ["all"] else 0
    if values["json"]:
        out_json(answer)
        return code
    retried, others = answer["retried"], answer["not_retried"]
    if retried:
        say(f"{counted(len(retried), 'job')} queued again: {spans(retried)}")
    for job in others if words != ["all"] else ():
        err(f"tarmac: {safe(job['reason'])}\n")
    if not retried and not others:
        err("tarmac: no jobs found; nothing was queued\n")
    if answer["notice"]:
        err(f"tarmac: {safe(answer['notice'])}\n")
    return code


VERB = Verb(
    "retry",
    "run ended jobs again, as their next attempt",
    usage=("tarmac retry ID… [options]", "tarmac retry --failed [options]"),
    run=run,
    options=(Option("--failed", None, "retry your failed jobs"), *FILTERS, JSON),
    examples=(
        ("tarmac retry 7", "whether it failed, was killed or succeeded"),
        ("tarmac retry --failed --name 'sweep*'", "the failed jobs of a sweep"),
    ),
    notes=(
        IDS_NOTE,
        "`all` includes jobs that succeeded and jobs of other users; use --failed for your failed jobs.",
        "A job keeps its id and options, and the log of each attempt: `tarmac log 7 --attempt 1`.",
        "If none of the named jobs is queued again, the exit code is 1.",
        "If the job waits between two attempts, its next one starts now.",
    ),
)
