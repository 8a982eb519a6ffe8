"""`tarmac template show`: the options of a template, as they are written in .tarmac.toml."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out, out_json
from tarmac.client.templates import template
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) != 1:
        raise UserError("template show: give a name", "run `tarmac template ls` to list your templates")
    found = template(connect(), words[0])
    if values["json"]:
        out_json(found)
        return 0
    from tarmac.cli.editor.document import toml
    from tarmac.typed.written import typed_options

    out("".join(f"{name} = {toml(value)}\n" for name, value in typed_options(found["options"]).items()))
    return 0


VERB = Verb(
    "template show",
    "show the options of a template",
    usage=("tarmac template show NAME",),
    run=run,
    options=(JSON,),
    examples=(("tarmac template show big", "as they are written in .tarmac.toml"),),
)
