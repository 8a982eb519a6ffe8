"""`tarmac gpu ignore-process`: a process that Tarmac did not start, and that is to hold no GPU all the same."""

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
            "gpu ignore-process: which process?",
            "give one pid, or one program's name: `tarmac gpu ignore-process Xorg`",
        )
    is_pid = words[0].isdecimal()
    process = integer(words[0]) if is_pid else words[0]
    ignored = connect().ignore_process(process, forget=values["forget"], node=values["node"])
    if values["json"]:
        out_json({"ignored": ignored})
        return 0
    who = f"pid {words[0]}" if is_pid else words[0]
    say(f"{safe(who)} {'counts again' if values['forget'] else 'holds no GPU any more'}")
    return 0


VERB = Verb(
    "gpu ignore-process",
    "let a process from outside not count as somebody on a GPU",
    usage=("tarmac gpu ignore-process PID|NAME [options]",),
    run=run,
    options=(
        Option("--forget", None, "let it count again"),
        Option("--node", None, "the node of the pid, if there are several", "NODE"),
        JSON,
    ),
    examples=(
        ("tarmac gpu ignore-process Xorg", "every process of that program"),
        ("tarmac gpu ignore-process 4242", "this one, until it ends"),
        ("tarmac gpu ignore-process --forget Xorg", "let it count again"),
    ),
    notes=(
        "Both are kept over restarts of Tarmac; a pid is forgotten when its process ends.",
        "Display servers and processes with little memory never count: `tarmac set` shows which.",
    ),
)
