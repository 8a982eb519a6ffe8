"""`tarmac queue resume`: accept and start jobs again after a pause, a drain or a stop."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    queue = connect().resume_queue(values["owner"])
    if values["json"]:
        out_json(queue)
    elif values["owner"] is not None:
        say(f"jobs of {safe(values['owner'])} start again")
    elif queue["paused"] or queue["draining"]:
        say("your jobs start again once the queue does")
    else:
        say("jobs are accepted and started again")
    return 0


VERB = Verb(
    "queue resume",
    "accept and start jobs again",
    usage=("tarmac queue resume [options]",),
    run=run,
    takes_words=False,
    options=(Option("--owner", None, "let only the suspended jobs of this user start", "USER"), JSON),
    examples=(
        ("tarmac queue resume", "after pause, drain or stop, or once failing jobs are fixed"),
        ("tarmac queue resume --owner ann", "let only ann's jobs start again"),
    ),
    notes=(
        "When many jobs of a user in a row fail at once, no further jobs of this user start. Other users' jobs do.",
        "Run `tarmac set pause_after_failures` to see how many.",
        "Users may resume their own jobs, admins everything.",
    ),
)
