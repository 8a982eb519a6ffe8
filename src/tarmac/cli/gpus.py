"""`tarmac gpus`: the cards, how full and how busy they are, and who is on them."""

from __future__ import annotations

from tarmac.cli.grammar import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.table import Column, lines
from tarmac.cli.terminal import err, has_colours, out, out_json, width
from tarmac.cli.text import safe, size, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.cli.grammar import Values

    Gpu = dict[str, Any]

BAR = 10
EIGHTHS = " ▏▎▍▌▋▊▉█"
TITLES = ("GPU", "MODEL", "MEMORY", "UTIL", "TEMP", "JOBS", "PROCESSES")
COLUMNS = tuple(Column(title, is_right=title in {"GPU", "UTIL", "TEMP"}, most=24 if title == "MODEL" else None)
                for title in TITLES)  # fmt: skip


def run(values: Values, _: list[str]) -> int:
    answer = connect().call("GET", "/gpus")
    if values["json"]:
        out_json(answer["gpus"])
        return 0
    if not answer["gpus"]:
        err(f"No GPUs: {safe(answer.get('error') or 'the agent has not reported any yet')}\n")
        err("Jobs with -g 0 run all the same. Simulated GPUs for a trial: TARMAC_FAKE_GPUS=4, then `tarmac stop`.\n")
        return 0
    nodes = {gpu["node"] for gpu in answer["gpus"]}
    rows = [_row(gpu, has_nodes=len(nodes) > 1) for gpu in answer["gpus"]]
    styles = [_styles(gpu) for gpu in answer["gpus"]] if has_colours() else None
    out("\n".join(lines(COLUMNS, rows, styles, width())) + "\n")
    return 0


def _row(gpu: Gpu, *, has_nodes: bool) -> list[str]:
    index = f"{gpu['node']}:{gpu['index']}" if has_nodes else str(gpu["index"])
    utilization = "" if gpu["utilization"] is None else f"{gpu['utilization']}%"
    temperature = "" if gpu["temperature"] is None else f"{gpu['temperature']}°C"
    jobs = spans(gpu["jobs"]) if gpu["jobs"] else "drained" if gpu["drained"] else "-"
    return [index, safe(gpu["model"] or "?"), _memory(gpu), utilization, temperature, jobs, _processes(gpu)]


def _memory(gpu: Gpu) -> str:
    used, total = gpu["memory_used_bytes"], gpu["memory_total_bytes"]
    if not total:
        return "?"
    return f"{bar((used or 0) / total)} {size(used):>5}/{size(total)}"


def bar(fraction: float) -> str:
    eighths = round(min(1.0, max(0.0, fraction)) * BAR * 8)
    filled = "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")
    return filled + "·" * (BAR - len(filled))


def _processes(gpu: Gpu) -> str:
    named = [f"{who['user']}: {who['command']} ({size(who['memory_bytes'])})" for who in gpu["processes"]]
    if gpu["reason"]:
        named.insert(0, gpu["reason"])
    return safe("; ".join(named))


def _styles(gpu: Gpu) -> list[str | None]:
    used = (gpu["memory_used_bytes"] or 0) / (gpu["memory_total_bytes"] or 1)
    fullness = "red" if used > 0.9 else "yellow" if used > 0.5 else "green"
    heat = "red" if (gpu["temperature"] or 0) >= 85 else None
    return ["bold", None, fullness, None, heat, "green" if gpu["jobs"] else "dim", "dim"]


VERB = Verb(
    "gpus",
    "the GPUs: memory, load, jobs and processes on them",
    usage=("tarmac gpus [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(("tarmac gpus", "all cards of this machine"),),
)
