"""`tarmac rename`: another name for a job, in any state."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, is_given
from tarmac.cli.parser import JSON, NONE, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.client.changes import label as relabel
from tarmac.errors import UserError
from tarmac.shared.units import jobs_named
from tarmac.typed.values import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if not words or not is_given(values, words[:-1]):
        raise UserError("rename: give a job and its new name", "for example: `tarmac rename 7 baseline`")
    try:
        name = None if words[-1] == NONE else label(words[-1])
    except ValueError as error:
        raise UserError(f"rename: the name is wrong: {error}") from None
    numbers = relabel(connect(), ids_of(words[:-1]), filters_of(values), set_name=name)  # type: ignore[arg-type]
    if values["json"]:
        out_json({"ids": numbers, "name": name})
    who = jobs_named(numbers)
    say(f"removed the name of {who}" if name is None else f"renamed {who} to {name}")
    return 0


VERB = Verb(
    "rename",
    "give a job another name, even after it has ended",
    usage=("tarmac rename ID… NAME",),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac rename 7 baseline", "in any state"),
        ("tarmac rename last none", "remove the name"),
    ),
    notes=(IDS_NOTE,),
)
