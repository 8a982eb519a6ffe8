"""`tarmac template rm`: remove a template."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.client.templates import remove_template
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) != 1:
        raise UserError("template rm: give a name", "run `tarmac template ls` to list your templates")
    remove_template(connect(), words[0])
    if values["json"]:
        out_json({"removed": words[0]})
    say("removed; jobs that were queued with it stay as they are")
    return 0


VERB = Verb(
    "template rm",
    "remove a template",
    usage=("tarmac template rm NAME",),
    run=run,
    options=(JSON,),
    examples=(("tarmac template rm big", "your jobs stay as they are"),),
)
