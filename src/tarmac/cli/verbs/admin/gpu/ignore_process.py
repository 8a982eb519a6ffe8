"""`tarmac gpu ignore-process`: ignore foreign processes, so that their GPUs count as free; list the ignored ones."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out, out_json, say, width
from tarmac.errors import UserError
from tarmac.typed.values import integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) > 1 or words == [""]:
        raise UserError(
            "gpu ignore-process takes one process",
            "give a pid or the name of a program: `tarmac gpu ignore-process Xorg`",
        )
    if values["forget"] and values["off"]:
        raise UserError("gpu ignore-process: --forget and --off exclude each other", "--off is for defaults")
    if not words:
        return _list(values)
    is_pid = words[0].isdecimal()
    if is_pid and values["off"]:
        raise UserError("gpu ignore-process: --off takes the name of a program", "use --forget for a pid")
    process = integer(words[0]) if is_pid else words[0]
    ignored = connect().ignore_process(process, forget=values["forget"], off=values["off"], node=values["node"])
    if values["json"]:
        out_json({"ignored": ignored})
        return 0
    who = f"pid {words[0]}" if is_pid else words[0]
    is_undone = values["forget"] or values["off"]
    say(f"{safe(who)} {'is no longer ignored' if is_undone else 'is ignored from now on'}")
    return 0


def _list(values: Values) -> int:
    if values["forget"] or values["off"] or values["node"] is not None:
        raise UserError("gpu ignore-process: no process given", "give a pid or the name of a program")
    ignored = connect().ignored()
    if values["json"]:
        out_json({"ignored": ignored})
        return 0
    from tarmac.cli.render.table import Column, lines

    columns = [
        Column("PROCESS", [one["program"] or f"pid {one['pid']} on {one['node']}" for one in ignored], least=12),
        Column("ORIGIN", [one["origin"] + (", off" if one["off"] else "") for one in ignored]),
    ]
    out("\n".join(lines(columns, width())) + "\n")
    return 0


VERB = Verb(
    "gpu ignore-process",
    "ignore a foreign process, so that its GPU counts as free",
    usage=("tarmac gpu ignore-process [PID|NAME] [options]",),
    run=run,
    options=(
        Option("--forget", None, "undo what a user did: stop ignoring a process, or switch a default on again"),
        Option("--off", None, "count a program that is ignored by default"),
        Option("--node", None, "node of the pid, if there are several", "NODE"),
        JSON,
    ),
    examples=(
        ("tarmac gpu ignore-process sunshine", "every process of that program"),
        ("tarmac gpu ignore-process 4242", "this process, until it ends"),
        ("tarmac gpu ignore-process --forget sunshine", "stop ignoring it"),
        ("tarmac gpu ignore-process --off Xorg", "count it, although it is ignored by default"),
        ("tarmac gpu ignore-process", "list what is ignored, and which are defaults"),
    ),
    notes=(
        "ORIGIN: default, config (the config file) or user. `off` marks a default that was switched off.",
        "Both survive restarts of Tarmac; a pid is removed when its process ends.",
        "Display servers and processes with little memory are always ignored: see `tarmac set`.",
    ),
)
