"""`tarmac tag`: add and remove tags of jobs, in any state."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, require
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.client.changes import label as relabel
from tarmac.errors import UserError
from tarmac.shared.units import jobs_named
from tarmac.typed.values import label, tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    added = [*values["add"], *_after_plus(words)]
    ids = [word for word in words if not word.startswith("+")]
    require("tag", values, ids)
    if not added and not values["remove"]:
        raise UserError("tag: no tags given", "for example: `tarmac tag 7 +good --remove old`")
    changed = {"add_tags": added, "remove_tags": values["remove"]}
    numbers = relabel(connect(), ids_of(ids), filters_of(values), **changed)  # type: ignore[arg-type]
    if values["json"]:
        out_json({"ids": numbers, "added": added, "removed": values["remove"]})
    say(f"tagged {jobs_named(numbers)}" if numbers else "no jobs found")
    return 0


def _after_plus(words: list[str]) -> list[str]:
    try:
        return [tag(word[1:]) for word in words if word.startswith("+")]
    except ValueError as error:
        raise UserError(f"tag: a tag is wrong: {error}", "for example: `tarmac tag 7 +good +paper`") from None


VERB = Verb(
    "tag",
    "add and remove tags of jobs, even after they have ended",
    usage=("tarmac tag ID… +TAG… [--remove TAG]",),
    run=run,
    options=(
        Option("--add", None, "add this tag, as +TAG does; repeat the option for more", "TAG", tag, has_many=True),
        Option("--remove", None, "remove this tag; repeat the option for more", "TAG", label, has_many=True),
        *FILTERS,
        JSON,
    ),
    examples=(
        ("tarmac tag 7 +good +paper", "add two tags"),
        ("tarmac tag 3-7 +paper --remove draft", "add one, remove another"),
        ("tarmac tag --name 'base*' +baseline", "all jobs with such a name"),
    ),
    notes=(IDS_NOTE,),
)
