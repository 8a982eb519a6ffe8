"""`tarmac edit`: change what a waiting job asked for."""

from __future__ import annotations

from tarmac.cli.args.job_options import changes, options_of
from tarmac.cli.args.selectors import IDS_NOTE, ids_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import spans
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import NotFound, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if not words:
        raise UserError("edit: which job?", "give ids: `tarmac edit 7 --priority 1`")
    client = connect()
    changed = changes(client, values)
    if not changed:
        raise UserError("edit: nothing to change", "`tarmac edit --help` lists what can be: `tarmac edit 7 --time 6h`")
    if len(words) == 1 and (words[0].isdigit() or words[0] == "last"):
        job = client.edit(words[0], **changed)
        if values["json"]:
            out_json(job.raw)
        else:
            say(f"changed job {job.id}; `tarmac show {job.id}` tells how it is")
        return 0
    return _told(client.edit_many(ids_of(words), **changed), is_json=values["json"])


def _told(answer: dict[str, list[int]], *, is_json: bool) -> int:
    """Those of an array that run already are no reason not to change the others."""
    edited, others = answer["edited"], answer["not_waiting"]
    if is_json:
        out_json(answer)
    if not edited and not others:
        raise NotFound("no job fits that", "`tarmac ls -a` lists all")
    if not edited:
        raise UserError(f"edit: {_jobs(others)} did not wait, so nothing is changed", "`tarmac ls` lists what waits")
    if not is_json:
        say(f"changed {_jobs(edited)}; `tarmac show {edited[0]}` tells how it is")
        if others:
            err(f"tarmac: {_jobs(others)} did not wait, so nothing is changed there\n")
    return 0


def _jobs(ids: list[int]) -> str:
    return f"{'job' if len(ids) == 1 else 'jobs'} {spans(ids)}"


VERB = Verb(
    "edit",
    "change what a waiting job asked for",
    usage=("tarmac edit ID… [options]",),
    run=run,
    options=(*options_of("edit"), JSON),
    examples=(
        ("tarmac edit 7 --priority 1", "before your others"),
        ("tarmac edit 7-106 --max-running 4", "a whole array"),
        ("tarmac edit 7 --time 2h --begin none", "a limit, and it may begin at once"),
    ),
    notes=(IDS_NOTE, "Only what waits can be changed: queued, held and draft jobs. What is not named stays."),
)
