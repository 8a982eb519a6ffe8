"""`tarmac pause`: freeze running jobs. They keep their GPUs."""

from __future__ import annotations

from time import monotonic, sleep

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, require
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import jobs_are
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.shared.names import ENDED, WAITING
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.cli.parser import Values
    from tarmac.client import Client

START_S = 5.0  # a job that was just submitted is about to run
AGAIN_S = 0.1
NOTHING_DONE = 1
HELD = ("held", "draft")


def run(values: Values, words: list[str]) -> int:
    require("pause", values, words)
    answer = _paused(connect(), values, words)
    paused = answer["paused"]
    code = 0 if paused or words == ["all"] else NOTHING_DONE
    if values["json"]:
        out_json(answer)
        return code
    if paused:
        keep = "it keeps what it holds" if len(paused) == 1 else "they keep what they hold"
        say(f"{jobs_are(paused)} paused; {keep} until `tarmac resume {spans(paused)}`")
    if words != ["all"]:
        for job in answer["not_running"]:
            reason = job.get("reason")
            why = why_not(job["id"], job["state"]) if reason is None else f"was not paused: {reason}"
            err(f"tarmac: job {job['id']} {why}\n")
    elif not paused:
        err("tarmac: no job is running; nothing was paused\n")
    return code


def _paused(client: Client, values: Values, words: list[str]) -> dict[str, list[Any]]:
    """The answer, once no job of the selection is starting."""
    deadline = monotonic() + START_S
    while True:
        answer = client.pause_jobs(*ids_of(words), count_paused=bool(values["count_paused"]), **filters_of(values))
        is_starting = any(job["state"] == "starting" for job in answer["not_running"])
        if not is_starting or words == ["all"] or monotonic() >= deadline:
            return answer
        sleep(AGAIN_S)


def why_not(number: int, state: str) -> str:
    """Why a job in this state cannot be paused."""
    if state in HELD:
        return f"is {'a ' * (state == 'draft')}{state} and does not run"
    if state in WAITING:
        return f"is not running ({state}); run `tarmac hold {number}` to keep it from starting"
    if state in ENDED:
        return f"has ended ({state}) and cannot be paused"
    return f"is {state} and cannot be paused now"


VERB = Verb(
    "pause",
    "freeze running jobs; they keep their GPUs",
    usage=("tarmac pause ID… [options]",),
    run=run,
    options=(
        Option("--count-paused", None, "let the pause count against the time limit"),
        *FILTERS,
        JSON,
    ),
    examples=(
        ("tarmac pause 7", "until `tarmac resume 7`"),
        ("tarmac pause --owner ann --state running", "all running jobs of ann"),
    ),
    notes=(
        IDS_NOTE,
        "A paused job keeps its GPUs with all their memory, so no other job can use them. Its time limit waits, too.",
        "A job that is starting is paused once it runs. If none of the named jobs is paused, the exit code is 1.",
        "To start no more jobs, use `tarmac queue pause`.",
    ),
)
