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

FAILED = 1


def run(values: Values, words: list[str]) -> int:
    client = connect()
    names = [name for word in words for name in word.split(",") if name]
    names = names or [target["name"] for target in client.notify_targets() if target["default"]]
    if not names:
        raise UserError("notify test: no target given, and there is no default", "run `tarmac notify ls` to list them")
    results = client.notify_test(*names)
    if values["json"]:
        out_json(results)
    for result in results if not values["json"] else ():
        if result["error"] is None:
            out(f"{safe(result['target'])}: sent\n")
        else:
            err(f"tarmac: {safe(result['target'])}: {safe(result['error'])}\n")
    return FAILED if any(result["error"] is not None for result in results) else 0


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
    notes=("Exits with 1 if a message was not accepted. A server that does not answer is given up after a minute.",),
)
