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
    elif queue["paused"]:
        say("your jobs start again once the queue does")
    else:
        say("your jobs start again" if queue["draining"] else "jobs are accepted and started again")
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
        "If a user's jobs keep failing right after they start, Tarmac starts no more jobs of that user.",
        "Run `tarmac set suspend_after_failures` to see how many.",
        "Users can resume their own jobs; admins can resume everything.",
    ),
)
