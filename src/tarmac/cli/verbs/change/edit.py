"""`tarmac edit`: change what waiting jobs asked for, by options or in an editor."""

from __future__ import annotations

from tarmac.cli.args.edit_options import changes_here, edit_options
from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, ids_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import jobs_are
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import UserError
from tarmac.shared.units import jobs_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client

FILTER_NAMES = ("state", "owner", "group")
MOST_IN_EDITOR = 100  # jobs of one file


def run(values: Values, words: list[str]) -> int:
    ids, filters = ids_of(words), {name: values[name] for name in FILTER_NAMES if values[name] is not None}
    if not ids and not filters:
        raise UserError("edit: no jobs given", "give ids: `tarmac edit 7 --priority 1`")
    client = connect()
    changed = changes_here(client, "edit", values)
    if not changed:
        return _in_editor(client, ids, filters, is_json=values["json"])
    if len(ids) == 1 and not filters and (ids[0].isdigit() or ids[0] == "last"):
        job = client.edit(ids[0], **changed)
        return _report({"edited": [job.id], "not_waiting": []}, is_json=values["json"])
    return _report(client.edit_many(ids, **filters, **changed), is_json=values["json"])


def _in_editor(client: Client, ids: list[str], filters: dict[str, str], *, is_json: bool) -> int:
    from tarmac.cli.editor.editor import is_possible

    if not is_possible():
        raise UserError(
            "edit: no options given",
            "give at least one, such as `tarmac edit 7 --time 6h`; in a terminal, your editor opens without options",
        )
    from tarmac.cli.editor.document import document, edited
    from tarmac.cli.editor.editor import edit_until
    from tarmac.client.changes import edit_each, options_of_jobs

    jobs = options_of_jobs(client, ids, filters, MOST_IN_EDITOR)

    def accept(text: str) -> dict[str, list[int]] | None:
        found = edited(text, jobs, client)
        return edit_each(client, found) if found else None

    answer = edit_until(document(jobs, _title(list(jobs))), accept, name=f"job-{next(iter(jobs))}")
    if answer is None:
        err("tarmac: nothing was changed\n")
        return 0
    return _report(answer, is_json=is_json)


def _title(ids: list[str]) -> str:
    return f"{jobs_named([int(number) for number in ids])}, as queued"


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
        err("tarmac: no jobs found; nothing was changed\n")
    else:
        say(f"changed {jobs_named(edited)}")
        if others:
            err(f"tarmac: {jobs_are(others)} not waiting and cannot be changed\n")
    return 0


VERB = Verb(
    "edit",
    "change the options of waiting jobs",
    usage=("tarmac edit ID… [options]", "tarmac edit ID…"),
    run=run,
    options=(*edit_options(), *FILTERS[2:], JSON),
    examples=(
        ("tarmac edit 7 --priority 1", "start it before your other jobs"),
        ("tarmac edit 7 --retry 3 --notify mail", "retry it if it fails, and send a message at its end"),
        ("tarmac edit 7 -g 2 --command 'python train.py --lr 0.2'", "other GPUs, another command"),
        ("tarmac edit 7", "change its options in $EDITOR"),
        ("tarmac edit 7-106 --max-running 4", "a whole array"),
        ("tarmac edit 7 --time 2h --begin none", "set a time limit, remove the start time"),
    ),
    notes=(
        IDS_NOTE,
        "Only waiting jobs can be changed: queued, held and draft jobs. Other options stay as they are.",
        "`none` resets an option, and --no-NAME switches one off. --env sets variables; the others stay.",
        "--name and --tag change the jobs here; select jobs by their ids, --state and --owner.",
    ),
)
