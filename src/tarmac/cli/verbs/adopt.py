"""`tarmac adopt`: a process that was started by hand becomes a job, watched until it ends."""

from __future__ import annotations

import os

from tarmac.cli.args.values import gpus, positive
from tarmac.cli.parser import JSON, Option, Verb, shown
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out, out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) != 1:
        raise UserError("adopt: which process?", "give one pid: `tarmac adopt 4242`; `tarmac gpus` shows those on GPUs")
    pid = _pid(words[0])
    if pid in ancestors() and not values["yes"]:
        raise UserError(
            f"adopt: process {pid} is your shell, or runs it: `tarmac kill` of such a job would end that, too",
            "give the pid of the run itself (`tarmac gpus`, `ps`), or --yes if you mean it",
        )
    job = connect().adopt(pid, gpus=values["gpus"], name=values["name"], node=values["node"]).id
    out_json({"id": job}) if values["json"] else out(f"{job}\n")
    say(f"watched until it ends; `tarmac kill {job}` stops it, `tarmac` lists all jobs")
    return 0


def _pid(word: str) -> int:
    try:
        return positive(word)
    except ValueError as error:
        raise UserError(f"adopt: {shown(word)} is no pid: {error}", "`tarmac gpus` shows processes with pids") from None


def gpus_or_none(word: str) -> list[int]:
    return [] if word.strip() in {"", "none"} else gpus(word)


def ancestors() -> set[int]:
    """This process, and those from which it was started."""
    found: set[int] = set()
    pid = os.getpid()
    while pid > 0 and pid not in found:
        found.add(pid)
        pid = _parent(pid)
    return found - {1}


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read()
    except OSError:
        return 0
    return int(line[line.rindex(b")") + 2 :].split()[1])


VERB = Verb(
    "adopt",
    "take a running process of yours into the list",
    usage=("tarmac adopt PID [options]",),
    run=run,
    options=(
        Option("--gpus", "-g", "the GPUs it uses, or none (default: those it is seen on)", "LIST", gpus_or_none),
        Option("--name", "-n", "a name, for you and for filters", "NAME"),
        Option("--node", None, "the node it runs on, if there are several", "NODE"),
        Option("--yes", "-y", "also if it is the shell that this is typed into, or above it"),
        JSON,
    ),
    examples=(
        ("tarmac adopt 4242", "prints the job's id"),
        ("tarmac adopt 4242 -g 0,1 -n big", "it will use these, though it is not seen there yet"),
    ),
    notes=(
        "Only its owner can do this. Its output stays where it goes, and its exit code is not known to Tarmac.",
        "`kill` and `wait` work as on every job, and its GPUs are booked until it ends.",
    ),
)
