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


def run(values: Values, _: list[str]) -> int:
    answer = connect().call("GET", "/gpus")
    if values["json"]:
        out_json(answer["gpus"])
        return 0
    if not answer["gpus"]:
        err(f"No GPUs: {safe(answer.get('error') or 'the agent has not reported any yet')}\n")
        err("Jobs with -g 0 run all the same. Simulated GPUs for a trial: TARMAC_FAKE_GPUS=4, then `tarmac stop`.\n")
        return 0
    out("\n".join(lines(_columns(answer["gpus"]), width())) + "\n")
    return 0


def _columns(gpus: list[Gpu]) -> list[Column]:
    has_nodes = len({gpu["node"] for gpu in gpus}) > 1
    names = [f"{gpu['node']}:{gpu['index']}" if has_nodes else str(gpu["index"]) for gpu in gpus]
    colours = has_colours()
    return [
        Column("GPU", names, is_right=True, styles=["bold"] * len(gpus) if colours else None),
        Column("MODEL", [gpu["model"] or "?" for gpu in gpus], most=24, styles=[None] * len(gpus) if colours else None),
        Column("MEMORY", map(_memory, gpus), styles=[_fullness(gpu) for gpu in gpus] if colours else None),
        Column("UTIL", [_with(gpu["utilization"], "%") for gpu in gpus], is_right=True),
        Column("TEMP", [_with(gpu["temperature"], "°C") for gpu in gpus], is_right=True),
        Column("JOBS", [spans(gpu["jobs"]) or ("drained" if gpu["drained"] else "-") for gpu in gpus]),
        Column("PROCESSES", map(_processes, gpus)),
    ]


def _with(number: int | None, unit: str) -> str:
    return "" if number is None else f"{number}{unit}"


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
    return "; ".join(named)


def _fullness(gpu: Gpu) -> str:
    used = (gpu["memory_used_bytes"] or 0) / (gpu["memory_total_bytes"] or 1)
    return "red" if used > 0.9 else "yellow" if used > 0.5 else "green"


VERB = Verb(
    "gpus",
    "the GPUs: memory, load, jobs and processes on them",
    usage=("tarmac gpus [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(("tarmac gpus", "all cards of this machine"),),
)
