"""`tarmac adopt`: a process that was started by hand becomes a job, watched until it ends."""

from __future__ import annotations

import os

from tarmac.cli.parser import JSON, Option, Verb, shown
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out, out_json, say
from tarmac.errors import UserError
from tarmac.typed.values import gpus, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) != 1:
        raise UserError(
            "adopt: no process given", "give one pid: `tarmac adopt 4242`; `tarmac gpus` lists processes on GPUs"
        )
    pid = _pid(words[0])
    client = connect()
    if client.remote is None and pid in ancestors() and not values["yes"]:
        raise UserError(
            f"adopt: process {pid} is your shell or one of its parents; `tarmac kill` would end your shell",
            "give the pid of the program itself (see `tarmac gpus` or `ps`), or add --yes",
        )
    job = client.adopt(pid, gpus=values["gpus"], name=values["name"], node=values["node"]).id
    out_json({"id": job}) if values["json"] else out(f"{job}\n")
    say(f"watching it until it ends; `tarmac kill {job}` stops it")
    return 0


def _pid(word: str) -> int:
    try:
        return positive(word)
    except ValueError as error:
        raise UserError(f"adopt: {shown(word)} is not a pid: {error}", "run `tarmac gpus` to see the pids") from None


def gpus_or_none(word: str) -> list[int]:
    return [] if word.strip() in {"", "none"} else gpus(word)


def ancestors() -> set[int]:
    """This process and its ancestors."""
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
    "turn one of your running processes into a job",
    usage=("tarmac adopt PID [options]",),
    run=run,
    options=(
        Option("--gpus", "-g", "GPUs it uses, or none (default: where it is running now)", "LIST", gpus_or_none),
        Option("--name", "-n", "name the job, for you and for filters", "NAME"),
        Option("--node", None, "node it runs on, if there are several", "NODE"),
        Option("--yes", "-y", "adopt it even if it is this shell or one of its parents"),
        JSON,
    ),
    examples=(
        ("tarmac adopt 4242", "prints the job's id"),
        ("tarmac adopt 4242 -g 0,1 -n big", "it will use these GPUs, though it does not yet"),
    ),
    notes=(
        "You can adopt only your own processes. The output stays where it is, and the exit code is unknown to Tarmac.",
        "`kill` and `wait` work as for any job, and its GPUs are reserved until it ends.",
    ),
)
