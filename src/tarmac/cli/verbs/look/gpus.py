"""`tarmac gpus`: list the GPUs with memory, load, jobs and foreign processes, and why some are not usable."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.records import GpuOverview


def run(values: Values, _: list[str]) -> int:
    if values["watch"]:
        from tarmac.cli.term.live import watch
        from tarmac.cli.term.live_gpus import LiveGpus

        return watch("gpus", LiveGpus(values["node"]))
    if values["json"]:
        out_json([gpu.raw for gpu in _overview(connect(), values["node"]).gpus])
        return 0
    from time import time

    from tarmac.cli.render.gpus.gpus import table
    from tarmac.cli.render.gpus.nodes import absences

    client = connect()
    found = _overview(client, values["node"])
    if found.notice is not None:
        from tarmac.cli.render.notice import show_notice

        show_notice(found.notice)
    away = absences(found.nodes, time())
    if not found.gpus:
        from tarmac.cli.render.text import safe

        err("".join(f"{line}\n" for line in away))

        err(f"No GPUs: {safe(client.gpus_error() or 'the agent has not reported any yet')}\n")
        err("Jobs with -g 0 can still run. For simulated GPUs, run `tarmac stop` and set TARMAC_FAKE_GPUS=4.\n")
        return 0
    out("\n".join([*table(found.gpus, width=width(), has_colours=has_colours()), *away]) + "\n")
    return 0


def _overview(client: Client, node: str | None) -> GpuOverview:
    """Of one node if it is given."""
    found = client.gpu_overview()
    if node is None:
        return found
    client.node(node)  # refuses an unknown name
    return found.of(node)


VERB = Verb(
    "gpus",
    "list the GPUs with their memory, load, jobs and foreign processes",
    usage=("tarmac gpus [options]",),
    run=run,
    takes_words=False,
    options=(
        Option("--watch", "-w", "update the table until you press q or Ctrl-C"),
        Option("--node", None, "only the GPUs of this node", "NODE"),
        JSON,
    ),
    examples=(
        ("tarmac gpus", "all GPUs"),
        ("tarmac gpus --node gpu02", "those of one node"),
        ("tarmac gpus -w", "the same, updated live"),
        ("tarmac gpus --json | jq '.[].held'", "all fields, as JSON"),
    ),
    notes=(
        "MEMORY: solid is used, shaded is reserved by jobs but not used yet.",
        "Run `tarmac gpu --help` to see how to drain GPUs and ignore processes.",
    ),
)
