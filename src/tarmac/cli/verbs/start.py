"""`tarmac start`: start a waiting job now, ahead of its turn."""

from __future__ import annotations

from tarmac.cli.args.gpu_names import gpus_of
from tarmac.cli.args.selectors import number_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import gpu_spans
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) != 1:
        raise UserError(
            "start: no job given", "give one id: `tarmac start 7`; to start the controller, run `tarmac serve`"
        )
    pinned = None if values["gpus_on"] is None else gpus_of("start", [values["gpus_on"]])
    client = connect()
    job = number_of(client, "start", words[0])
    gpus = client.start_now(job, gpus_on=pinned, yes=values["yes"])
    if values["json"]:
        out_json({"id": job, "gpus": gpus})
    else:
        names = ", ".join(gpu_spans(gpu["name"] for gpu in gpus))
        say(f"job {job} starts" + (f" on GPU {names}" if gpus else ""))
    return 0


VERB = Verb(
    "start",
    "start a waiting job now, ahead of its turn",
    usage=("tarmac start ID [options]",),
    run=run,
    options=(
        Option("--gpus-on", None, "use these GPUs, by index or UUID: 0,2", "LIST"),
        Option("--yes", "-y", "allow a GPU that another job uses exclusively"),
        JSON,
    ),
    examples=(
        ("tarmac start 7", "on free GPUs, or those that disturb others least"),
        ("tarmac start 7 --gpus-on 2", "on this GPU"),
        ("tarmac start 7 --gpus-on 2 --yes", "even if a job uses it exclusively"),
    ),
    notes=(
        "For admins: root, the user who runs Tarmac, and those in `tarmac set admins`.",
        "Ignores the order of the queue, limits, reservations, foreign processes and a paused queue,",
        "and also the job's own conditions: --after, --begin, a hold.",
        "With --yes, a second job may use a GPU that another one uses exclusively; they then share its memory.",
    ),
)
