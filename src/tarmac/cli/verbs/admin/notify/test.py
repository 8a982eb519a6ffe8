"""`tarmac notify test`: send a message to targets now, and say whether their servers accepted it."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out, out_json
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client.answers import NotifyTarget

FAILED = 1


def run(values: Values, words: list[str]) -> int:
    client = connect()
    names = [name for word in words for name in word.split(",") if name]
    names = names or _defaults(client.notify_targets())
    results = client.notify_test(*names)
    if values["json"]:
        out_json(results)
    for result in results if not values["json"] else ():
        if result["error"] is None:
            out(f"{safe(result['target'])}: sent\n")
        else:
            err(f"tarmac: {safe(result['target'])}: {safe(result['error'])}\n")
    return FAILED if any(result["error"] is not None for result in results) else 0


def _defaults(targets: list[NotifyTarget]) -> list[str]:
    names = [target["name"] for target in targets if target["default"]]
    if names:
        return names
    hint = "run `tarmac notify ls` to list them" if targets else "add one to the config file, under [notify.targets]"
    raise UserError("notify test: give the name of a target; you have no default target", hint)


VERB = Verb(
    "notify test",
    "send a message now, and say whether it was accepted",
    usage=("tarmac notify test [TARGET…]",),
    run=run,
    options=(JSON,),
    examples=(
        ("tarmac notify test", "your default targets"),
        ("tarmac notify test mail slack", "these two"),
    ),
    notes=("Exits with 1 if a message was not sent. Tarmac waits up to a minute for a server that does not answer.",),
)
