"""`tarmac edit`: change what a waiting job asked for."""

from __future__ import annotations

from tarmac.cli.args.job_options import changes, options_of
from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, ids_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import jobs_are
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import UserError
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    ids, filters = ids_of(words), {name: values[name] for name in ("state", "owner") if values[name] is not None}
    if not ids and not filters:
        raise UserError("edit: no jobs given", "give ids: `tarmac edit 7 --priority 1`")
    client = connect()
    changed = changes(client, values)
    if not changed:
        raise UserError(
            "edit: no options given",
            "give at least one, such as `tarmac edit 7 --time 6h`; `tarmac edit --help` lists them",
        )
    if len(ids) == 1 and not filters and (ids[0].isdigit() or ids[0] == "last"):
        job = client.edit(ids[0], **changed)
        return _report({"edited": [job.id], "not_waiting": []}, is_json=values["json"])
    return _report(client.edit_many(ids, **filters, **changed), is_json=values["json"])


def _report(answer: dict[str, list[int]], *, is_json: bool) -> int:
    """Report jobs that were not waiting, such as running jobs of an array; the others are changed."""
    edited, others = answer["edited"], answer["not_waiting"]
    if not edited and others:
        raise UserError(
            f"edit: {jobs_are(others)} not waiting; nothing was changed", "run `tarmac ls` to see which jobs wait"
        )
    if is_json:
        out_json(answer)
    elif not edited:
        err("tarmac: there are no jobs; nothing was changed\n")
    else:
        say(f"changed {_jobs(edited)}")
        if others:
            err(f"tarmac: {jobs_are(others)} not waiting and cannot be changed\n")
    return 0


def _jobs(ids: list[int]) -> str:
    return f"{'job' if len(ids) == 1 else 'jobs'} {spans(ids)}"


VERB = Verb(
    "edit",
    "change the options of waiting jobs",
    usage=("tarmac edit ID… [options]",),
    run=run,
    options=(*options_of("edit"), *FILTERS[2:], JSON),
    examples=(
        ("tarmac edit 7 --priority 1", "start it before your other jobs"),
        ("tarmac edit 7 --retry 3 --notify mail", "retry it if it fails, and send a message at its end"),
        ("tarmac edit 7-106 --max-running 4", "a whole array"),
        ("tarmac edit 7 --time 2h --begin none", "set a time limit, remove the start time"),
    ),
    notes=(
        IDS_NOTE,
        "Only waiting jobs can be changed: queued, held and draft jobs. Other options stay as they are.",
        "--name and --tag change the jobs here; select jobs by their ids, --state and --owner.",
    ),
)
