"""`tarmac notify ls`: the targets of notifications, and what waits for each."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    found = connect().notify_overview()
    if values["json"]:
        out_json(found)
        return 0
    if not found["targets"]:
        err("No targets. Add some to the config file, under [notify.targets].\n")
    else:
        from tarmac.cli.render.admin.notify import table

        out("\n".join(table(found["targets"], width=width(), has_colours=has_colours())) + "\n")
    if not found["installed"]:
        err("tarmac: apprise is not installed, so nothing is sent; run `pip install 'tarmac-gpu[notify]'`\n")
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
        "Tarmac retries a message that cannot be sent for a day. Then the message counts as undelivered.",
    ),
)
