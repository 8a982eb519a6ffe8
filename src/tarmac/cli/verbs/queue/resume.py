"""`tarmac queue resume`: accept and start jobs again after a pause, a drain or a stop."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    queue = connect().resume_queue()
    if values["json"]:
        out_json(queue)
    else:
        say("jobs are accepted and started again")
    return 0


VERB = Verb(
    "queue resume",
    "accept and start jobs again",
    usage=("tarmac queue resume [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(("tarmac queue resume", "after pause, drain, stop or an automatic pause"),),
    notes=("The queue pauses automatically when many jobs in a row fail at once: `tarmac set pause_after_failures`.",),
)
