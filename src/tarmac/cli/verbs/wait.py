"""`tarmac wait`: wait until jobs have ended; exit with their code."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, numbers_of
from tarmac.cli.args.values import seconds
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.job import state_words
from tarmac.cli.session import connect
from tarmac.cli.term.notices import tell
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.cli.term.verdict import tell_use
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.records import Job

TIMED_OUT = 124  # as timeout(1)


def run(values: Values, words: list[str]) -> int:
    from tarmac.client.follow import ended_jobs

    client = connect()
    ids = _awaited(client, values, words)
    if not ids:
        say("there are no jobs to wait for")
    client.on_trouble = None  # a notice says it
    try:
        ended = list(ended_jobs(client, ids, values["timeout"], tell))
    except TimeoutError as error:
        err(f"tarmac: {error}\n")
        return TIMED_OUT
    _summarise(ended)
    if values["json"]:
        out_json([job.raw for job in ended])
    elif len(ended) == 1:
        tell_use(client, ended[0])
    return max((job.exit_status for job in ended), default=0)


def _awaited(client: Client, values: Values, words: list[str]) -> list[int]:
    """With `all`, ended jobs are left out, and held jobs and drafts, which may never be released."""
    if "all" not in ids_of(words) or values["state"] is not None:
        return numbers_of(client, values, words)
    from tarmac.client.follow import resolved

    filters = filters_of(values)
    active = resolved(client, {**filters, "state": "active"})
    if not active and filters:
        numbers_of(client, values, words)  # refuses a filter that matches no ended job either
    kept = set(resolved(client, {**filters, "state": "held,draft"}))
    if kept:
        say(f"not waiting for held jobs and drafts: {spans(sorted(kept))}")
    return [number for number in active if number not in kept]


def _summarise(ended: list[Job]) -> None:
    if len(ended) == 1:
        say(f"job {ended[0].id} {state_words(ended[0])}")
    elif ended:
        counts: dict[str, int] = {}
        for job in ended:
            counts[job.state] = counts.get(job.state, 0) + 1
        say(", ".join(f"{number} {state}" for state, number in counts.items()))


VERB = Verb(
    "wait",
    "wait until jobs have ended; exit with their code",
    usage=("tarmac wait [ID…] [options]",),
    run=run,
    options=(
        Option("--timeout", None, "give up after this long, with exit code 124", "DURATION", seconds),
        *FILTERS,
        JSON,
    ),
    examples=(
        ("tarmac wait 7 && ./evaluate", "continue once job 7 has succeeded"),
        ("tarmac wait all", "all jobs that are queued or running, but not held ones"),
    ),
    notes=(
        IDS_NOTE,
        "The default is `last`. Exits with the highest exit code of the jobs; 128 + N for a job ended by signal N.",
    ),
)
