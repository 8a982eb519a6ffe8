"""`tarmac start`: start waiting jobs now, ahead of their turn."""

from __future__ import annotations

from tarmac.cli.args.gpu_names import gpus_of
from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, is_given, means_all, numbers_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import gpu_spans, safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import Conflict, Unavailable, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.answers import GpuRef


def run(values: Values, words: list[str]) -> int:
    if not is_given(values, words):
        raise UserError(
            "start: no job given", "give an id: `tarmac start 7`; to start the controller, run `tarmac serve`"
        )
    pinned = None if values["gpus_on"] is None else gpus_of("start", [values["gpus_on"]])
    client = connect()
    jobs = _waiting(client, values, words)
    if pinned is not None and len(jobs) > 1:
        raise UserError(f"start: --gpus-on is for one job, but {len(jobs)} match", "give one id")
    started: list[tuple[int, list[GpuRef]]] = []
    code = 0
    for job in jobs:
        try:
            started.append((job, client.start_now(job, gpus_on=pinned, yes=values["yes"])))
        except (Conflict, Unavailable) as error:
            if len(jobs) == 1 or not error.key:
                raise
            err(f"tarmac: {safe(error.message)}\n")
            code = error.exit_code
    if values["json"]:
        out_json([{"id": job, "gpus": gpus} for job, gpus in started])
        return code
    for job, gpus in started:
        names = ", ".join(gpu_spans(gpu["name"] for gpu in gpus))
        say(f"job {job} starts" + (f" on GPU {names}" if names else ""))
    return code


def _waiting(client: Client, values: Values, words: list[str]) -> list[int]:
    """A range or a filter selects waiting jobs only; a single id is always tried."""
    if all(word.isdecimal() or word == "last" for word in ids_of(words)) and not filters_of(values):
        return numbers_of(client, values, words)
    if not means_all(values, words):
        return numbers_of(client, {**values, "state": values["state"] or "waiting"}, words)
    from tarmac.client.follow import resolved

    jobs = resolved(client, {"state": "waiting"})
    if not jobs:
        err("tarmac: no jobs are waiting\n")
    return jobs


VERB = Verb(
    "start",
    "start waiting jobs now, ahead of their turn",
    usage=("tarmac start ID… [options]",),
    run=run,
    options=(
        Option("--gpus-on", None, "use these GPUs, by index or UUID: 0,2", "LIST"),
        Option("--yes", "-y", "allow a GPU that another job uses exclusively"),
        *FILTERS,
        JSON,
    ),
    examples=(
        ("tarmac start 7", "on free GPUs, or those that disturb others least"),
        ("tarmac start 7 --gpus-on 2", "on this GPU"),
        ("tarmac start 7 --gpus-on 2 --yes", "even if a job uses it exclusively"),
    ),
    notes=(
        IDS_NOTE,
        "For admins: root, the user who runs Tarmac, and those in `tarmac set admins`.",
        "Ignores the order of the queue, limits, reservations, foreign processes and a paused queue,",
        "and also the job's own conditions: --after, --begin, a hold.",
        "With --yes, a second job may use a GPU that another one uses exclusively; they then share its memory.",
    ),
)
