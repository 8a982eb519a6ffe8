"""`tarmac template ls`: your templates, one per line."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.requests import options_text
from tarmac.cli.render.text import cells, cut, padded, safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out, out_json, say, width
from tarmac.client.templates import templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    found = templates(connect())
    if values["json"]:
        out_json(found)
        return 0
    if not found:
        say("no templates; `tarmac template save NAME ID` makes one")
    names = [safe(one["name"]) for one in found]
    wide, most = max(map(cells, names), default=0), width()
    lines = [f"{padded(name, wide)}  {options_text(one['options'])}" for name, one in zip(names, found, strict=True)]
    out("".join(f"{line if most is None else cut(line, most)}\n" for line in lines))
    return 0


VERB = Verb(
    "template ls",
    "list your templates and their options",
    usage=("tarmac template ls",),
    run=run,
    options=(JSON,),
    takes_words=False,
    examples=(("tarmac template ls", "one per line"),),
)
