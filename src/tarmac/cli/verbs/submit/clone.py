"""`tarmac clone`: queue copies of jobs, with other options or after a look at them in the editor."""

from __future__ import annotations

from tarmac.cli.args.edit_options import changes_here, edit_options
from tarmac.cli.args.job_options import tell
from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, ids_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out, out_json, say
from tarmac.client.changes import clone, options_of
from tarmac.errors import UserError
from tarmac.shared.units import spans
from tarmac.typed.requests import entry_of, snapshot_of_copies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.cli.parser import Values
    from tarmac.client import Client

FILTER_NAMES = ("state", "owner", "group")
ENTRY = (
    Option("--hold", None, "hold the copies until `tarmac release`"),
    Option("--draft", None, "keep the copies as drafts until `tarmac release`"),
)
CODE = (
    Option("--snapshot", None, "run the code as it is now in the directory of the job; default: the code of the job"),
    Option("--no-snapshot", None, "run the code as it is when the copy starts"),
)


def run(values: Values, words: list[str]) -> int:
    client = connect()
    if values["edit"]:
        return _edited(client, ids_of(words), values)
    return report(values, copies(client, "clone", words, values))


def copies(client: Client, verb: str, words: Sequence[str], values: Values, *, rerun: bool = False) -> list[int]:
    ids, filters = ids_of(words), {name: values[name] for name in FILTER_NAMES if values[name] is not None}
    if not ids and not filters:
        raise UserError(f"{verb}: no jobs given", f"give ids: `tarmac {verb} 7`, `3-7` or `last`")
    code = snapshot_of_copies(verb, values)
    changed = changes_here(client, verb, values)
    return clone(
        client,
        ids,
        rerun=rerun,
        entry=entry_of(verb, values),
        changes=changed,
        filters=filters,
        snapshot=code,
        on_hint=None if values["json"] else tell,
    )


def _edited(client: Client, ids: list[str], values: Values) -> int:
    """A copy of one job, whose options the user changes before it is queued."""
    from tarmac.cli.editor.document import document, edited
    from tarmac.cli.editor.editor import edit_until, is_possible

    if len(ids) != 1 or not (ids[0].isdigit() or ids[0] == "last"):
        raise UserError("clone: --edit takes one job", "leave out --edit, or clone the jobs one by one")
    if not is_possible():
        raise UserError("clone: --edit needs a terminal", "give options: `tarmac clone 7 --time 6h`")
    code = snapshot_of_copies("clone", values)
    number = str(client.number_of(ids[0]))
    given = changes_here(client, "clone", values)
    jobs = {number: {**options_of(client, number), **given}}

    def accept(text: str) -> list[int]:
        changed = {**given, **edited(text, jobs, client).get(number, {})}
        entry = entry_of("clone", values)
        return clone(client, [number], entry=entry, changes=changed, snapshot=code, on_hint=tell)

    ids_of_copies = edit_until(document(jobs, f"A copy of job {number}"), accept, name=f"clone-of-{number}")
    if ids_of_copies is None:
        err("tarmac: the file is unchanged or empty, so no copy was queued; leave out --edit for an exact copy\n")
        return 0
    return report(values, ids_of_copies)


def report(values: Values, ids: list[int]) -> int:
    named = spans(ids)
    if values["json"]:
        out_json({"id": ids[0], "ids": ids})
    else:
        out(f"{named}\n")
    say(f"`tarmac release {named}` queues it" if values["hold"] or values["draft"] else f"queued as {named}")
    return 0


VERB = Verb(
    "clone",
    "queue copies of jobs, with other options; prints their ids",
    usage=("tarmac clone ID… [options]", "tarmac clone ID --edit"),
    run=run,
    options=(
        Option("--edit", None, "change the options of the copy in $EDITOR first"),
        *edit_options(),
        *CODE,
        *ENTRY,
        *FILTERS[2:],
        JSON,
    ),
    examples=(
        ("tarmac clone 7", "the same command, directory, environment and options"),
        ("tarmac clone 7 --time 12h --name longer", "with other options"),
        ("tarmac clone 7 --snapshot", "with the code as it is now"),
        ("tarmac clone 7 --edit --draft", "a draft, after changes in $EDITOR"),
    ),
    notes=(
        IDS_NOTE,
        "A copy has the environment that its original was submitted with. You can copy only your own jobs.",
        "It runs the snapshot of its original, unless --snapshot or --no-snapshot is given.",
    ),
)
