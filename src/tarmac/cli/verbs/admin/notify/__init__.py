"""`tarmac notify`: list the targets of notifications, and test them."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.sub_verbs import run_sub_verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

VERBS = ("ls", "test")


def run(values: Values, words: list[str]) -> int:
    words = words or ["ls", *(["--json"] if values["json"] else [])]
    return run_sub_verb("notify", VERBS, words, "for messages about a job, run `tarmac add --notify TARGET …`")


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
