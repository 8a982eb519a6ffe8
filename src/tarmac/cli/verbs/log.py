"""`tarmac log`: the output of a job, byte for byte; or the log of the controller or the agent."""

from __future__ import annotations

import os

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, numbers_of
from tarmac.cli.args.values import count, positive
from tarmac.cli.parser import Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out, out_bytes
from tarmac.errors import NotAllowed, NotFound, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

OWN = ("controller", "agent")
PIECE = 1 << 20


def run(values: Values, words: list[str]) -> int:
    if words and words[0] in OWN:
        return _own(values, words)
    client = connect()
    ids = numbers_of(client, values, words)
    if values["follow"] and len(ids) > 1:
        raise UserError("log: -f follows one job at a time", "give one id, or leave out -f")
    stream = "stderr" if values["stderr"] else "stdout"
    for index, job in enumerate(ids):
        if len(ids) > 1:
            separator = "\n" if index else ""
            out(f"{separator}==> job {job} <==\n")
        output = client.logs(
            job,
            follow=values["follow"],
            lines=values["lines"],
            stream=stream,
            attempt=values["attempt"],
            on_cut=_say_cut,
        )
        for data in output:
            out_bytes(data)
    return 0


def _say_cut() -> None:
    err("tarmac: only the last 64 MiB were searched for lines; earlier output is left out\n")


def _own(values: Values, words: list[str]) -> int:
    """Print a log of Tarmac from its file, which works even if nothing else does."""
    from tarmac import paths

    if len(words) > 1 or values["stderr"] or values["attempt"] is not None:
        raise UserError("log prints one log at a time", "run `tarmac log controller` or `tarmac log agent`")
    state = paths.state_folder()
    path = paths.controller_log(state) if words[0] == "controller" else paths.agent_log(state)
    if not os.path.exists(path):
        raise NotFound(
            f"{path} does not exist", f"the {words[0]} has not run yet; any command such as `tarmac ls` starts it"
        )
    if not os.access(path, os.R_OK):
        raise NotAllowed(f"you may not read {path}", "check its mode and owner with `ls -l`")
    if values["follow"] or values["lines"] is not None:
        lines = "+1" if values["lines"] is None else str(values["lines"])
        os.execvp("tail", ["tail", "-n", lines, *(["-F"] if values["follow"] else []), "--", path])
    with open(path, "rb") as log:
        while data := log.read(PIECE):
            out_bytes(data)
    return 0


VERB = Verb(
    "log",
    "print a job's output, or Tarmac's own logs",
    usage=("tarmac log [ID…] [options]", "tarmac log controller|agent [options]"),
    run=run,
    options=(
        Option("--follow", "-f", "follow the output until the job ends"),
        Option("--lines", "-n", "print only the last N lines", "N", count),
        Option("--stderr", None, "print stderr, if it has a separate file"),
        Option("--attempt", None, "print the output of attempt N", "N", positive),
        *FILTERS,
    ),
    examples=(
        ("tarmac log", "the output of your newest job"),
        ("tarmac log -f 7", "follow it"),
        ("tarmac log -n 20 7", "the last 20 lines"),
        ("tarmac log --attempt 1 7", "the first attempt, before it was preempted"),
        ("tarmac log controller", "the log of the controller"),
    ),
    notes=(IDS_NOTE, "`tarmac show ID` prints the paths of the files."),
)
