"""`tarmac gpu ignore-process`: ignore a foreign process, so that its GPU counts as free."""

from __future__ import annotations

from tarmac.cli.args.values import integer
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) != 1 or not words[0]:
        raise UserError(
            "gpu ignore-process: no process given",
            "give a pid or the name of a program: `tarmac gpu ignore-process Xorg`",
        )
    is_pid = words[0].isdecimal()
    process = integer(words[0]) if is_pid else words[0]
    ignored = connect().ignore_process(process, forget=values["forget"], node=values["node"])
    if values["json"]:
        out_json({"ignored": ignored})
        return 0
    who = f"pid {words[0]}" if is_pid else words[0]
    say(f"{safe(who)} {'is no longer ignored' if values['forget'] else 'is ignored from now on'}")
    return 0


VERB = Verb(
    "gpu ignore-process",
    "ignore a foreign process, so that its GPU counts as free",
    usage=("tarmac gpu ignore-process PID|NAME [options]",),
    run=run,
    options=(
        Option("--forget", None, "stop ignoring it"),
        Option("--node", None, "node of the pid, if there are several", "NODE"),
        JSON,
    ),
    examples=(
        ("tarmac gpu ignore-process Xorg", "every process of that program"),
        ("tarmac gpu ignore-process 4242", "this process, until it ends"),
        ("tarmac gpu ignore-process --forget Xorg", "stop ignoring it"),
    ),
    notes=(
        "Both survive restarts of Tarmac; a pid is removed when its process ends.",
        "Display servers and processes with little memory are always ignored: see `tarmac set`.",
    ),
)
