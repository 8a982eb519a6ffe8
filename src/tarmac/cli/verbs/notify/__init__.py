"""`tarmac notify`: list the targets of notifications, and test them."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb, shown
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

VERBS = ("ls", "test")


def run(values: Values, words: list[str]) -> int:
    from tarmac.cli.main import run_verb, verb_named

    if words and words[0] in VERBS:
        return run_verb(verb_named(f"notify {words[0]}"), words[1:])
    if words:
        raise UserError(
            f"notify: unknown verb {shown(words[0])}",
            "use ls or test; for messages about a job, run `tarmac add --notify TARGET …`",
        )
    return run_verb(verb_named("notify ls"), ["--json"] if values["json"] else [])


VERB = Verb(
    "notify",
    "list the targets of notifications, or send a test message",
    usage=("tarmac notify [--json]", "tarmac notify VERB …"),
    run=run,
    options=(JSON,),
    is_prefix=True,
    verbs=VERBS,
    examples=(
        ("tarmac notify ls", "the targets, and what could not be sent"),
        ("tarmac notify test mail", "send a message now"),
        ("tarmac add --notify mail --on fail,oom python train.py", "send mail if the job fails"),
    ),
    notes=("Targets are in the config file, under [notify.targets]. Passwords and tokens in them are never shown.",),
)
