"""`tarmac gpus`: the GPUs, how full and how busy they are, who is on them, and which may not be used, and why."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    if values["watch"]:
        from tarmac.cli.term.live import watch
        from tarmac.cli.term.live_gpus import LiveGpus

        return watch("gpus", LiveGpus())
    if values["json"]:
        out_json([gpu.raw for gpu in connect().gpus()])
        return 0
    from tarmac.cli.render.gpus import table

    client = connect()
    gpus = client.gpus()
    if not gpus:
        from tarmac.cli.render.text import safe

        err(f"No GPUs: {safe(client.gpus_error() or 'the agent has not reported any yet')}\n")
        err("Jobs with -g 0 run all the same. Simulated GPUs for a trial: TARMAC_FAKE_GPUS=4, then `tarmac stop`.\n")
        return 0
    out("\n".join(table(gpus, width=width(), has_colours=has_colours())) + "\n")
    return 0


VERB = Verb(
    "gpus",
    "the GPUs: memory, load, jobs and other people's processes on them",
    usage=("tarmac gpus [-w] [--json]",),
    run=run,
    takes_words=False,
    options=(Option("--watch", "-w", "keep the table up to date until q or Ctrl-C"), JSON),
    examples=(
        ("tarmac gpus", "all GPUs"),
        ("tarmac gpus -w", "the same, live"),
        ("tarmac gpus --json | jq '.[].held'", "for programs, every field"),
    ),
    notes=(
        "MEMORY: solid is used, shaded is booked by jobs but not used yet.",
        "`tarmac gpu --help` tells how to take GPUs out, and let some processes not count.",
    ),
)
