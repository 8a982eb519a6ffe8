"""`tarmac kill`: ask jobs to stop. They have stopped when `tarmac wait` returns."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, require
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted, safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import Unavailable
from tarmac.shared.units import jobs_named, spans
from tarmac.typed.values import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    require("kill", values, words)
    answer = connect().kill(*ids_of(words), grace_s=values["grace"], **filters_of(values))
    left, unwritten = answer.get("not_asked", []), answer.get("unwritten")
    if unwritten is not None:
        err(f"tarmac: the stop is recorded once the state can be written: {safe(unwritten)}\n")
    if values["json"]:
        out_json(answer)
        return Unavailable.exit_code if left else 0
    asked, ended = answer["asked"], answer["already_ended"]
    if asked:
        say(f"asked {counted(len(asked), 'job')} to stop: {spans(asked)}")
    if ended and words != ["all"]:
        err(f"tarmac: {jobs_named(ended)} had already ended\n")
    if not asked and not ended:
        err("tarmac: no jobs found; nothing was stopped\n")
    if left:
        err(f"tarmac: {jobs_named(left)} cannot be cancelled until then; try again\n")
    return Unavailable.exit_code if left else 0


VERB = Verb(
    "kill",
    "stop jobs, queued or running",
    usage=("tarmac kill ID… [options]",),
    run=run,
    options=(
        Option("--grace", None, "time until SIGKILL (default: that of the job); 0: at once", "DURATION", seconds),
        *FILTERS,
        JSON,
    ),
    examples=(
        ("tarmac kill 7 9-12", "including every process they started"),
        ("tarmac kill last --grace 0", "your newest job, with SIGKILL at once"),
        ("tarmac kill --tag sweep --state queued", "the waiting jobs of a sweep"),
    ),
    notes=(IDS_NOTE, "Sends SIGTERM to the whole process tree and, after the grace period, SIGKILL to what is left."),
)
