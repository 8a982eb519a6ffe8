"""`tarmac log`: the output of a job, byte for byte; or the log of the controller or the agent."""

from __future__ import annotations

import os

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, numbers_of
from tarmac.cli.args.values import count, positive
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.notices import tell
from tarmac.cli.term.terminal import err, out, out_bytes, out_json
from tarmac.errors import NotAllowed, NotFound, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client

OWN = ("controller", "agent")
PIECE = 1 << 20


def run(values: Values, words: list[str]) -> int:
    if values["json"] and values["follow"]:
        raise UserError("log: --json prints complete output, but -f follows it", "leave out one of the two")
    if words and words[0] in OWN:
        return _own(values, words)
    client = connect()
    ids = numbers_of(client, values, words)
    if values["follow"] and len(ids) > 1:
        raise UserError("log: -f follows one job at a time", "give one id, or leave out -f")
    stream = "stderr" if values["stderr"] else "stdout"
    if values["json"]:
        out_json([_as_json(client, job, stream, values) for job in ids])
        return 0
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
            on_notice=tell,
        )
        for data in output:
            out_bytes(data)
    return 0


def _as_json(client: Client, job: int, stream: str, values: Values) -> dict[str, object]:
    """The output as text; bytes that are not UTF-8 become U+FFFD."""
    begun: dict[str, str] = {}
    output = client.logs(
        job,
        lines=values["lines"],
        stream=stream,
        attempt=values["attempt"],
        on_cut=_say_cut,
        on_begin=begun.update,
    )
    text = b"".join(output).decode("utf-8", "replace")
    return {
        "id": job,
        "attempt": int(begun["tarmac-log-attempt"]),
        "stream": stream,
        "path": begun["tarmac-log-path"],
        "offset": int(begun["tarmac-log-offset"]),
        "text": text,
    }


def _say_cut() -> None:
    err("tarmac: stopped searching for earlier lines after 64 MiB or 3 s; earlier output is left out\n")


def _own(values: Values, words: list[str]) -> int:
    """Print a log of Tarmac from its file, which works even if nothing else does."""
    from tarmac import paths

    if values["stderr"] or values["attempt"] is not None:
        raise UserError("--stderr and --attempt are for jobs", f"run `tarmac log {words[0]}` without them")
    if len(words) > 1:
        raise UserError("log prints one log at a time", "run `tarmac log controller` or `tarmac log agent`")
    state = paths.state_folder()
    path = paths.controller_log(state) if words[0] == "controller" else paths.agent_log(state)
    if not os.path.exists(path):
        raise NotFound(
            f"{path} does not exist", f"the {words[0]} has not run yet; any command such as `tarmac ls` starts it"
        )
    if not os.access(path, os.R_OK):
        raise NotAllowed(f"you may not read {path}", "check its mode and owner with `ls -l`")
    if values["json"]:
        out_json([{"log": words[0], "path": path, "text": _last_lines(path, values["lines"])}])
        return 0
    if values["follow"] or values["lines"] is not None:
        lines = "+1" if values["lines"] is None else str(values["lines"])
        os.execvp("tail", ["tail", "-n", lines, *(["-F"] if values["follow"] else []), "--", path])
    with open(path, "rb") as log:
        while data := log.read(PIECE):
            out_bytes(data)
    return 0


def _last_lines(path: str, count: int | None) -> str:
    with open(path, "rb") as log:
        text = log.read().decode("utf-8", "replace")
    return text if count is None else "".join(text.splitlines(keepends=True)[-count:] if count else [])


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
        JSON,
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
