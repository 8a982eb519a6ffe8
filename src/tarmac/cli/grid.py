"""The GPUs several in a line, for more of them than the screen has lines."""

from __future__ import annotations

from tarmac.cli.card import bar, mood, mood_style, number, with_unit
from tarmac.cli.terminal import paint
from tarmac.cli.text import cells, cut, safe, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.cli.card import Gpu

GAP = "   "


def grid(gpus: Sequence[Gpu], *, width: int, has_colours: bool) -> list[str]:
    nodes = sorted({gpu["node"] for gpu in gpus})
    if len(nodes) == 1:
        return _block(gpus, width, has_colours=has_colours)
    rows = []
    for node in nodes:
        rows.append(paint(safe(node), "bold") if has_colours else safe(node))
        rows += _block([gpu for gpu in gpus if gpu["node"] == node], width, has_colours=has_colours)
    return rows


def _block(gpus: Sequence[Gpu], width: int, *, has_colours: bool) -> list[str]:
    """In columns from top to bottom, as `ls` of files has it."""
    texts = [_cell(gpu) for gpu in gpus]
    wide = max(map(cells, texts))
    across = max(1, (width + len(GAP)) // (wide + len(GAP)))
    down = -(-len(texts) // across)
    styles = [mood_style(gpu) for gpu in gpus]
    padded = [text + " " * (wide - cells(text)) for text in texts]
    shown = [paint(text, style) if has_colours else text for text, style in zip(padded, styles, strict=True)]
    return [GAP.join(shown[row::down]).rstrip() for row in range(down)]


def _cell(gpu: Gpu) -> str:
    """Index, memory, utilisation, and who has it, in about 24 columns."""
    total = gpu["memory_total_bytes"] or 1
    memory = bar((gpu["memory_used_bytes"] or 0) / total, (gpu.get("booked_bytes") or 0) / total, 6)
    who = spans(gpu["jobs"]) or mood(gpu)
    return f"{number(gpu):>3} {memory} {with_unit(gpu['utilization'], '%'):>4} {cut(who, 8):<8}"
