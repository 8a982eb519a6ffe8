"""`tarmac wait`: wait until jobs have ended; exit with their code."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, numbers_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.job import state_words
from tarmac.cli.render.verdict import tell_use
from tarmac.cli.session import connect
from tarmac.cli.term.notices import tell
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.shared.units import spans
from tarmac.typed.values import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.records import Job

TIMED_OUT = 124  # as timeout(1)
FIELDS_OF_MANY = "id,state,exit_code,signal,ended_at"


def run(values: Values, words: list[str]) -> int:
    from tarmac.client.follow import ended_jobs

    client = connect()
    ids = _awaited(client, values, words)
    if not ids:
        say("no jobs found; nothing to wait for")
    client.on_trouble = None  # a notice says it
    fields = None if values["json"] or len(ids) == 1 else FIELDS_OF_MANY
    tally = _Tally(keeps_jobs=fields is None)
    try:
        for job in ended_jobs(client, ids, values["timeout"], tell, fields):
            tally.add(job)
    except TimeoutError as error:
        err(f"tarmac: {error}\n")
        return TIMED_OUT
    tally.summarise()
    if values["json"]:
        out_json([job.raw for job in tally.jobs])
    elif len(ids) == 1:
        tell_use(client, tally.jobs[0])
    return tally.exit_status


class _Tally:
    """What is printed about the jobs. The jobs themselves are dropped if they are very many."""

    def __init__(self, *, keeps_jobs: bool) -> None:
        self.jobs: list[Job] = []
        self.exit_status = 0  # the highest one
        self._keeps_jobs = keeps_jobs
        self._counts: dict[str, int] = {}  # by state

    def add(self, job: Job) -> None:
        if self._keeps_jobs:
            self.jobs.append(job)
        self._counts[job.state] = self._counts.get(job.state, 0) + 1
        self.exit_status = max(self.exit_status, job.exit_status)

    def summarise(self) -> None:
        if len(self.jobs) == 1:
            say(f"job {self.jobs[0].id} {state_words(self.jobs[0])}")
        elif self._counts:
            say(", ".join(f"{number} {state}" for state, number in self._counts.items()))


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
