"""The table of GPUs, one row each. Notes are in the last column, or below the row if they don't fit."""

from __future__ import annotations

from time import time

from tarmac.cli.render.gpus.gpu import fullness, memory, model, notes_of, number, with_unit
from tarmac.cli.render.table import GAP, Column, fitted, lines
from tarmac.cli.render.text import safe, wrapped
from tarmac.cli.term.terminal import paint
from tarmac.shared.units import size, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tarmac.cli.render.gpus.gpu import Note
    from tarmac.client.records import Gpu

GIVE_WAY = ("POWER", "TEMP", "SLOTS", "BOOKED", "MODEL", "UTIL", "MEMORY")  # dropped in this order if space is short
INDENT = 5


def table(gpus: Sequence[Gpu], *, width: int | None, has_colours: bool, now: float | None = None) -> list[str]:
    """Titles and GPUs, grouped by node if there are several."""
    at = time() if now is None else now
    gpus = sorted(gpus, key=place)
    notes = [notes_of(gpu, at) for gpu in gpus]
    columns, _ = fitted(_columns(gpus, has_colours=has_colours), width, GIVE_WAY)
    behind = _beside(columns, notes, width)
    head, *rows = lines([*columns, *behind], width)
    below = [[] for _ in gpus] if behind else [_below(note, width or 0, has_colours=has_colours) for note in notes]
    if behind and has_colours:
        rows = [_painted(row, note) for row, note in zip(rows, notes, strict=True)]
    text, node = [head], None
    has_nodes = len({gpu.node for gpu in gpus}) > 1
    for gpu, row, more in zip(gpus, rows, below, strict=True):
        if has_nodes and gpu.node != node:
            node = gpu.node
            text.append(paint(safe(node), "bold") if has_colours else safe(node))
        text += [row, *more]
    return text


def place(gpu: Gpu) -> tuple[str, bool, int]:
    """The key they are sorted by. GPUs without an index come last."""
    return gpu.node, gpu.index is None, gpu.index or 0


def _columns(gpus: Sequence[Gpu], *, has_colours: bool) -> list[Column]:
    bold = ["bold"] * len(gpus) if has_colours else None
    hues = [fullness(gpu) for gpu in gpus] if has_colours else None
    columns = [
        Column("GPU", [number(gpu) for gpu in gpus], is_right=True, styles=bold),
        Column("MODEL", [model(gpu) for gpu in gpus], least=8),
        Column("MEMORY", [memory(gpu) for gpu in gpus], styles=hues),
    ]
    if any(0 < (gpu.booked_bytes or 0) < (gpu.memory_total_bytes or 0) for gpu in gpus):
        columns.append(Column("BOOKED", [size(gpu.booked_bytes or None, "-") for gpu in gpus], is_right=True))
    columns.append(Column("UTIL", [with_unit(gpu.utilization, "%") for gpu in gpus], is_right=True))
    if any(gpu.temperature is not None for gpu in gpus):
        columns.append(Column("TEMP", [with_unit(gpu.temperature, "°C") for gpu in gpus], is_right=True))
    if any(gpu.power_w is not None for gpu in gpus):
        columns.append(Column("POWER", [with_unit(gpu.power_w, " W") for gpu in gpus], is_right=True))
    if any((gpu.slots or 1) > 1 for gpu in gpus):
        columns.append(Column("SLOTS", [str(gpu.slots or 1) for gpu in gpus], is_right=True))
    columns.append(Column("JOBS", [spans(gpu.jobs) or "-" for gpu in gpus], least=6))
    return columns


def _beside(columns: Sequence[Column], notes: list[list[Note]], width: int | None) -> list[Column]:
    """The column of notes, if it fits without being cut."""
    texts = ["; ".join(words for _, words in note) for note in notes]
    if not any(texts):
        return []
    column = Column("NOTES", texts)
    needed = sum(other.width() + len(GAP) for other in columns) + column.width()
    return [column] if width is None or needed <= width else []


def _painted(row: str, note: list[Note]) -> str:
    text = "; ".join(words for _, words in note)
    return row.removesuffix(text) + "; ".join(paint(words, style) for style, words in note) if text else row


def _below(note: Iterable[Note], width: int, *, has_colours: bool) -> list[str]:
    return [
        " " * INDENT + (paint(line, style) if has_colours else line)
        for style, words in note
        for line in wrapped(words, max(1, width - INDENT))
    ]


def summary(gpus: Sequence[Gpu]) -> str:
    """How many GPUs there are, in use, held and not usable."""
    unusable = sum(bool(gpu.drained or gpu.health) for gpu in gpus)
    taken = sum(bool(gpu.jobs) for gpu in gpus)
    held = sum(bool(gpu.held) and not gpu.jobs for gpu in gpus)
    parts = [f"{len(gpus)} GPUs" if len(gpus) != 1 else "1 GPU", f"{taken} with jobs"]
    parts += [f"{held} held by others"] if held else []
    parts += [f"{unusable} drained or unhealthy"] if unusable else []
    return ", ".join(parts)
