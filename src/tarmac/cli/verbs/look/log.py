"""`tarmac log`: the output of a job, as a terminal would show it; or the log of the controller or the agent."""

from __future__ import annotations

import os
from time import time

from tarmac.cli.args.patterns import pattern
from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, numbers_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.notices import tell
from tarmac.cli.term.terminal import err, has_colours, out, out_bytes, out_json
from tarmac.errors import NotAllowed, NotFound, UserError
from tarmac.shared.units import size
from tarmac.typed.values import count, past, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tarmac.cli.parser import Values
    from tarmac.client import Client

OWN = ("controller", "agent")
PIECE = 1 << 20
NO_MATCH = 1  # as grep
CUT = "stopped searching for earlier lines after 64 MiB or 3 s; earlier output is left out"
SAID: set[tuple[int, str]] = set()
CONFLICTS = (("error", "follow"), ("error", "lines"), ("error", "since"), ("raw", "grep"))
JOBS_ONLY = ("stderr", "attempt", "error", "grep", "raw", "since", "node")


def run(values: Values, words: list[str]) -> int:
    _refuse_conflicts(values)
    if words and words[0] in OWN:
        return _own(values, words)
    client = connect()
    ids = numbers_of(client, values, words)
    if values["follow"] and len(ids) > 1:
        raise UserError("log: -f follows one job at a time", "give one id, or leave out -f")
    if values["json"]:
        answers = [_as_json(client, job, values) for job in ids]
        out_json(answers)
        return _exit_code(values, has_match=any(answer["text"] for answer in answers))
    has_printed = False
    for index, job in enumerate(ids):
        if len(ids) > 1:
            separator = "\n" if index else ""
            out(f"{separator}==> job {job} <==\n")
        has_printed |= _print(client, job, values)
    return _exit_code(values, has_match=has_printed)


def _exit_code(values: Values, *, has_match: bool) -> int:
    return 0 if has_match or values["grep"] is None else NO_MATCH


def _refuse_conflicts(values: Values) -> None:
    if values["json"] and values["follow"]:
        raise UserError("log: --json prints complete output, but -f follows it", "leave out one of the two")
    for first, second in CONFLICTS:
        if all(values[name] is not None and values[name] is not False for name in (first, second)):
            raise UserError(f"log: --{first} cannot be used together with --{second}", "leave out one of the two")


def _print(client: Client, job: int, values: Values) -> bool:
    """True if anything was printed."""
    if values["grep"] is not None:
        return _print_matching(client, job, values)
    if values["raw"]:
        for data in _fetch(client, job, values, values["lines"]):
            out_bytes(data)
        return True
    from tarmac.cli.logs import printing

    if values["follow"]:
        printing.follow(_fetch(client, job, values, values["lines"]))
        return True
    pieces = printing.text_of(lambda lines: _fetch(client, job, values, lines), values["lines"], colours=has_colours())
    for data in pieces:
        out_bytes(data)
    return True


def _print_matching(client: Client, job: int, values: Values) -> bool:
    from tarmac.cli.logs import printing
    from tarmac.cli.logs.renderer import HELD_LINES

    held = 0 if values["follow"] else HELD_LINES
    text = printing.rendered(_fetch(client, job, values, None), colours=False, held=held)
    has_printed = False
    for data in printing.matching(text, values["grep"], values["lines"]):
        out_bytes(data)
        has_printed = has_printed or bool(data)
    return has_printed


def _fetch(
    client: Client,
    job: int,
    values: Values,
    lines: int | None,
    on_begin: Callable[[Mapping[str, str]], None] | None = None,
) -> Iterator[bytes]:
    def begin(headers: Mapping[str, str]) -> None:
        if (removed := headers.get("tarmac-log-removed")) is not None:
            _say_once(job, f"the first {size(int(removed))} of the output was removed (setting log_limit)")
        if on_begin is not None:
            on_begin(headers)

    return client.logs(
        job,
        follow=values["follow"],
        lines=lines,
        stream="stderr" if values["stderr"] else "stdout",
        attempt=values["attempt"],
        error=values["error"],
        since_s=None if values["since"] is None else max(0.0, time() - values["since"]),
        node=values["node"],
        on_cut=lambda: _say_once(job, CUT),
        on_begin=begin,
        on_notice=tell,
        on_attempt=_say_attempt,
        ends_lines=not values["raw"],
    )


def _as_json(client: Client, job: int, values: Values) -> dict[str, object]:
    """The output as text; bytes that are not UTF-8 become U+FFFD."""
    begun: dict[str, str] = {}

    def fetch(lines: int | None) -> Iterator[bytes]:
        return _fetch(client, job, values, lines, begun.update)

    if values["raw"]:
        pieces: Iterable[bytes] = fetch(values["lines"])
    else:
        from tarmac.cli.logs import printing

        if values["grep"] is None:
            pieces = printing.text_of(fetch, values["lines"], colours=False)
        else:
            pieces = printing.matching(printing.rendered(fetch(None), colours=False), values["grep"], values["lines"])
    text = b"".join(pieces).decode("utf-8", "replace")
    return {
        "id": job,
        "attempt": int(begun["tarmac-log-attempt"]),
        "stream": "stderr" if values["stderr"] else "stdout",
        "path": begun["tarmac-log-path"],
        "offset": int(begun["tarmac-log-offset"]),
        "text": text,
    }


def _say_attempt(attempt: int) -> None:
    """Between the output of two attempts."""
    err(f"tarmac: attempt {attempt} begins\n")


def _say_once(job: int, words: str) -> None:
    """A log may be read twice: as it is, and again from an earlier line if the cursor moved up."""
    if (job, words) not in SAID:
        SAID.add((job, words))
        err(f"tarmac: {words}\n")


def _own(values: Values, words: list[str]) -> int:
    """Print a log of Tarmac from its file, which works even if nothing else does."""
    from tarmac import paths

    if given := [f"--{name}" for name in JOBS_ONLY if values[name]]:
        verb, them = ("is", "it") if len(given) == 1 else ("are", "them")
        raise UserError(f"{' and '.join(given)} {verb} for jobs", f"run `tarmac log {words[0]}` without {them}")
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
        Option("--error", None, "begin with the last traceback, or the first error line"),
        Option("--grep", None, "print only lines that match this regular expression", "REGEX", pattern),
        Option("--since", None, "print only what was written since then: 10m, 14:30, 2026-11-01", "TIME", past),
        Option("--raw", None, "print the bytes as they are, instead of what a terminal would show"),
        Option("--stderr", None, "print stderr, if it has a separate file"),
        Option("--attempt", None, "print the output of attempt N", "N", positive),
        Option("--node", None, "of a job on several nodes: print the output of this node", "NODE"),
        *FILTERS,
        JSON,
    ),
    examples=(
        ("tarmac log", "the output of your newest job"),
        ("tarmac log -f 7", "follow it"),
        ("tarmac log -n 20 7", "the last 20 lines"),
        ("tarmac log --attempt 1 7", "the output of the first attempt"),
        ("tarmac log --node gpu02 7", "of a job on several nodes, what it printed on this one"),
        ("tarmac log --error 7", "from the traceback on"),
        ("tarmac log --grep 'loss|acc' 7", "only these lines; `(?i)` ignores case"),
        ("tarmac log --since 10m 7", "what was written in the last ten minutes"),
        ("tarmac log --raw 7 > file", "byte for byte"),
        ("tarmac log controller", "the log of the controller"),
    ),
    notes=(IDS_NOTE, "`tarmac show ID` prints the paths of the files."),
)
