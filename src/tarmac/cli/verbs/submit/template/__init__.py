"""`tarmac template`: options of jobs under a name, for `tarmac add --template`."""

from __future__ import annotations

from tarmac.cli.parser import Verb
from tarmac.cli.sub_verbs import run_sub_verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

VERBS = ("save", "ls", "show", "rm")


def run(_: Values, words: list[str]) -> int:
    return run_sub_verb("template", VERBS, words, "to use one: `tarmac add --template NAME`")


VERB = Verb(
    "template",
    "save the options of jobs under a name, for `tarmac add --template`",
    usage=("tarmac template VERB …",),
    run=run,
    is_prefix=True,
    verbs=VERBS,
    examples=(
        ("tarmac template save big 7", "the options of job 7, without its command and files"),
        ("tarmac add --template big python train.py", "use them; options on the command line win"),
        ("tarmac template ls", "list your templates"),
        ("tarmac template rm big", "remove one"),
    ),
    notes=("Templates belong to you; other users have their own. Variables of a job are not part of a template.",),
)
