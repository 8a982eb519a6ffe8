"""`tarmac start`: start a waiting job now, whoever's turn it is."""

from __future__ import annotations

from tarmac.cli.args.gpu_names import gpus_of
from tarmac.cli.args.selectors import number_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import gpu_names
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(words) != 1:
        raise UserError(
            "start: which job?", "give one id: `tarmac start 7`; the controller is started by `tarmac serve`"
        )
    pinned = None if values["gpus_on"] is None else gpus_of("start", [values["gpus_on"]])
    client = connect()
    job = number_of(client, "start", words[0])
    gpus = client.start_now(job, gpus_on=pinned, yes=values["yes"])
    if values["json"]:
        out_json({"id": job, "gpus": gpus})
    else:
        names = gpu_names([gpu["uuid"] if gpu["index"] is None else gpu["index"] for gpu in gpus])
        say(f"job {job} starts" + (f" on GPU {names.removeprefix('index ')}" if gpus else ""))
    return 0


VERB = Verb(
    "start",
    "start a waiting job now, out of turn",
    usage=("tarmac start ID [options]",),
    run=run,
    options=(
        Option("--gpus-on", None, "on these GPUs: 0,2 or 0-3, or UUIDs", "LIST"),
        Option("--yes", "-y", "also on a GPU that another job has to itself"),
        JSON,
    ),
    examples=(
        ("tarmac start 7", "on whatever is free, or least in the way"),
        ("tarmac start 7 --gpus-on 2", "on that GPU"),
        ("tarmac start 7 --gpus-on 2 --yes", "although a job has it to itself"),
    ),
    notes=(
        "Only admins start out of turn: root, whoever runs Tarmac, and those of `tarmac set admins`.",
        "Order, limits, reservations, other people's processes and a paused queue do not count for it.",
        "Neither does what the job itself was told to wait for: --after, --begin, a hold.",
        "A GPU that a job has to itself is given to a second one only with --yes: they share its memory then.",
    ),
)
