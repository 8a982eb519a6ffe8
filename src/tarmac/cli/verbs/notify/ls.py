"""`tarmac notify ls`: the targets of notifications, and what waits for each."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    targets = connect().notify_targets()
    if values["json"]:
        out_json(targets)
    elif not targets:
        err("There are no targets. Add them to the config file, under [notify.targets].\n")
    else:
        from tarmac.cli.render.notify import table

        out("\n".join(table(targets, width=width(), has_colours=has_colours())) + "\n")
    return 0


VERB = Verb(
    "notify ls",
    "list the targets of notifications, and what waits for each",
    usage=("tarmac notify ls [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(("tarmac notify ls", "your targets and those for all users; for admins, all targets"),),
    notes=(
        "Passwords and tokens in URLs are hidden. A * marks your default targets.",
        "A message that cannot be sent is tried again for a day; then it counts as not delivered.",
    ),
)
