"""GPUs in several columns, for machines with more GPUs than the screen has lines.

Node and model are printed once above a group of GPUs if the cells are too narrow for them.
"""

from __future__ import annotations

from time import time

from tarmac.cli.render.gpus.gpu import bar, gpu_state, model, notes_of, number, state_style, with_unit
from tarmac.cli.render.text import cut, padded, safe
from tarmac.cli.term.terminal import paint
from tarmac.shared.units import size, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.records import Gpu

GAP = "  "
NARROWEST = 24  # index, a short bar, utilization, temperature and seven characters for its jobs
WITH_MEMORY, WITH_MODEL, WITH_NOTES = 44, 64, 80
MOST_MODEL = 20


def grid(gpus: Sequence[Gpu], *, width: int, lines: int, has_colours: bool, now: float | None = None) -> list[str]:
    """Use as few columns as fit the lines, so that cells are as wide as possible."""
    at = time() if now is None else now
    most = max(1, (width + len(GAP)) // (NARROWEST + len(GAP)))
    rows: list[str] = []
    for across in range(1, most + 1):
        rows = _rows(gpus, across, width, at, has_colours=has_colours)
        if len(rows) <= lines:
            break
    return rows


def _rows(gpus: Sequence[Gpu], across: int, width: int, at: float, *, has_colours: bool) -> list[str]:
    wide = (width + len(GAP)) // across - len(GAP)
    has_nodes = len({gpu.node for gpu in gpus}) > 1
    groups: dict[str, list[Gpu]] = {}
    for gpu in gpus:
        parts = [gpu.node] if has_nodes else []
        parts += [model(gpu)] if wide < WITH_MODEL else []
        groups.setdefault(" · ".join(parts), []).append(gpu)
    rows = []
    for title, members in groups.items():
        if title:
            head = cut(safe(title), width)
            rows.append(paint(head, "bold") if has_colours else head)
        rows += _block(members, across, wide, at, has_colours=has_colours)
    return rows


def _block(gpus: Sequence[Gpu], across: int, wide: int, at: float, *, has_colours: bool) -> list[str]:
    """Fill columns from top to bottom, like `ls`."""
    shown = []
    has_warmth = any(gpu.temperature is not None for gpu in gpus)
    for gpu in gpus:
        text = padded(_cell(gpu, wide, at, has_warmth=has_warmth), wide)
        shown.append(paint(text, state_style(gpu)) if has_colours else text)
    down = -(-len(shown) // across)
    return [GAP.join(shown[row::down]).rstrip() for row in range(down)]


def _cell(gpu: Gpu, wide: int, at: float, *, has_warmth: bool) -> str:
    used, total = gpu.memory_used_bytes or 0, gpu.memory_total_bytes or 1
    has_memory, short = wide >= WITH_MEMORY, 6 if wide >= NARROWEST + 4 else 4
    parts = [f"{number(gpu):>3}"]
    if wide >= WITH_MODEL:
        parts.append(padded(cut(safe(model(gpu)), MOST_MODEL), MOST_MODEL))
    parts.append(bar(used / total, (gpu.booked_bytes or 0) / total, 10 if has_memory else short))
    if has_memory:
        parts.append(f"{size(gpu.memory_used_bytes):>5}/{size(gpu.memory_total_bytes):<5}")
    parts.append(f"{with_unit(gpu.utilization, '%'):>4}")
    if has_warmth:
        parts.append(f"{with_unit(gpu.temperature, '°'):>3}")
    text = " ".join(parts)
    return cut(f"{text} {_who(gpu, at, wants_notes=wide >= WITH_NOTES)}", wide)


def _who(gpu: Gpu, at: float, *, wants_notes: bool) -> str:
    """Its jobs or foreign users, and what is wrong with it: as full notes if there is room."""
    jobs = spans(gpu.jobs)
    if wants_notes:
        return "; ".join([*([jobs] if jobs else []), *[words for _, words in notes_of(gpu, at)]]) or "-"
    marks = [] if gpu_state(gpu) in {"-", "held"} else [gpu_state(gpu)]
    if warnings := gpu.warnings:
        marks.append("idle" if any("idle" in words for words in warnings) else "!")
    return " ".join([*marks, *([jobs] if jobs else _holders(gpu))]) or "-"


def _holders(gpu: Gpu) -> list[str]:
    """The users whose foreign processes block it, each once."""
    if not gpu.held:
        return []
    outside = [who for who in gpu.processes if who.get("job") is None and not who.get("ignored")]
    return [*dict.fromkeys(safe(who["user"] or "?") for who in outside)] or ["held"]
