"""`tarmac template save`: the options of a job under a name."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.client.templates import save_template
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) != 2:
        raise UserError("template save: give a name and a job", "for example: `tarmac template save big 7`")
    client = connect()
    saved = save_template(client, words[0], client.number_of(words[1]))
    if values["json"]:
        out_json(saved)
    say(f"saved; `tarmac add --template {words[0]} …` uses it")
    return 0


VERB = Verb(
    "template save",
    "save the options of a job under a name",
    usage=("tarmac template save NAME JOB",),
    run=run,
    options=(JSON,),
    examples=(
        ("tarmac template save big 7", "a template of that name is replaced"),
        ("tarmac template save big last", "the options of your newest job"),
    ),
    notes=("The command, the directory, the name, the variables and the output files of the job are left out.",),
)
