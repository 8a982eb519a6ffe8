"""`tarmac edit`: change what a waiting job asked for."""

from __future__ import annotations

from tarmac.cli.args.job_options import label
from tarmac.cli.args.selectors import IDS_NOTE, ids_of
from tarmac.cli.args.values import duration, integer, moment, positive
from tarmac.cli.args.when import dependencies, tier, waited_for
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import spans
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import NotFound, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tarmac.cli.parser import Values
    from tarmac.client import Client

NONE = "none"
FIELDS = {
    "priority": "priority", "tier": "tier", "time": "time_limit_s", "begin": "begin_at", "max_running": "max_running",
    "name": "name", "project": "project",
}  # fmt: skip


def run(values: Values, words: list[str]) -> int:
    if not words:
        raise UserError("edit: which job?", "give ids: `tarmac edit 7 --priority 1`")
    client = connect()
    changes = _changes(client, values)
    if not changes:
        raise UserError("edit: nothing to change", "`tarmac edit --help` lists what can be: `tarmac edit 7 --time 6h`")
    if len(words) == 1 and (words[0].isdigit() or words[0] == "last"):
        job = client.edit(words[0], **changes)
        if values["json"]:
            out_json(job.raw)
        else:
            say(f"changed job {job.id}; `tarmac show {job.id}` tells how it is")
        return 0
    return _told(client.edit_many(ids_of(words), **changes), is_json=values["json"])


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


def _changes(client: Client, values: Values) -> dict[str, Any]:
    """The fields to send; None where `none` was typed."""
    changes: dict[str, Any] = {}
    for name, field in FIELDS.items():
        if values[name] is not None:
            changes[field] = None if values[name] is NONE else values[name]
    if values["after"]:
        changes["after"] = None if NONE in values["after"] else waited_for(client, values["after"])
    if values["tag"]:
        changes["tags"] = [] if NONE in values["tag"] else values["tag"]
    return changes


def or_none(read: Callable[[str], object]) -> Callable[[str], object]:
    """`none` takes back what was said."""
    return lambda word: NONE if word == NONE else read(word)


VERB = Verb(
    "edit",
    "change what a waiting job asked for",
    usage=("tarmac edit ID… [options]",),
    run=run,
    options=(
        Option("--priority", "-p", "smaller goes first", "N", integer),
        Option("--time", None, "how long it may run: 6h; or none", "DURATION", or_none(duration)),
        Option("--begin", None, "not before: 22:00, 'in 3h'; or none", "MOMENT", or_none(moment)),
        Option("--after", None, "whom it waits for: 7, 8:any; or none", "IDS", or_none(dependencies), has_many=True),
        Option("--tier", None, "urgent, normal or preemptible", "TIER", tier),
        Option("--max-running", None, "of its array so many at once; or none", "N", or_none(positive)),
        Option("--name", "-n", "its name; or none", "NAME", or_none(label)),
        Option("--project", None, "the project it belongs to; or none", "NAME", or_none(label)),
        Option("--tag", None, "its tags, instead of those it has; or none", "TAG", or_none(label), has_many=True),
        JSON,
    ),
    examples=(
        ("tarmac edit 7 --priority 1", "before your others"),
        ("tarmac edit 7-106 --max-running 4", "a whole array"),
        ("tarmac edit 7 --time 2h --begin none", "a limit, and it may begin at once"),
    ),
    notes=(IDS_NOTE, "Only what waits can be changed: queued, held and draft jobs. What is not named stays."),
)
