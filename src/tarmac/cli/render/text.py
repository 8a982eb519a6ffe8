"""Text for a terminal: its width, cut to fit, with control characters escaped."""

from __future__ import annotations

from tarmac.shared.text import command_line, safe
from tarmac.shared.units import spans

__all__ = ("command_line", "safe")  # with what is defined here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

JAMO = ("\u1160", "\u11ff")  # vowels and final consonants, drawn within the syllable before them


def cells(text: str) -> int:
    """The width of safe text in columns: two for East Asian wide characters and emoji, none for combining marks."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0
        if category(char) in {"Mn", "Me", "Cf"} or JAMO[0] <= char <= JAMO[1]
        else 2
        if east_asian_width(char) in {"W", "F"}
        else 1
        for char in text
    )


def plain_cells(line: str) -> int:
    """The width of a line with colours."""
    plain, *styled = line.split("\x1b[")
    return cells(plain) + sum(cells(part.partition("m")[2]) for part in styled)


def cut(text: str, width: int) -> str:
    """At most `width` columns, with … at the cut."""
    if len(text) <= width and text.isascii():
        return text
    if cells(text) <= width:
        return text
    kept, left = [], width - 1
    for char in text:
        left -= cells(char)
        if left < 0:
            break
        kept.append(char)
    return "".join(kept) + "…"


def clipped(line: str, width: int) -> str:
    """A line with colours, cut to `width` columns."""
    plain, *styled = line.split("\x1b[")
    if not styled:
        return cut(line, width)
    kept = [cut(plain, width)]
    left = width - cells(kept[0])
    for part in styled:
        style, _, text = part.partition("m")
        shown = cut(text, left) if left > 0 else ""
        left -= cells(shown)
        kept.append(f"\x1b[{style}m{shown}")
    return "".join(kept)


def padded(text: str, width: int, *, right: bool = False) -> str:
    if text.isascii():
        return text.rjust(width) if right else text.ljust(width)
    space = " " * (width - cells(text))
    return space + text if right else text + space


def wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words. Only a word wider than a line is cut."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and cells(line) + 1 + cells(word) > width:
            lines.append(cut(line, width))
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, cut(line, width)]


def jobs_are(ids: Sequence[int]) -> str:
    """`job 7 is`, `jobs 7-8 are`."""
    return f"job {ids[0]} is" if len(ids) == 1 else f"jobs {spans(ids)} are"


def gpu_names(names: Sequence[int | str]) -> str:
    """`index 0-1,3` or `second:0-1`, then the UUIDs of GPUs without an index."""
    return ", ".join(gpu_spans(names, before_index="index "))


def gpu_spans(names: Iterable[int | str], *, before_index: str = "") -> list[str]:
    """`0-1,3`; for each of several nodes `second:0-1,second:3`, as one may type it; then UUIDs."""
    by_node: dict[str, list[int]] = {}
    uuids = []
    for name in map(str, names):
        node, colon, index = name.rpartition(":")
        if index.isdecimal():
            by_node.setdefault(node + colon, []).append(int(index))
        else:
            uuids.append(name)
    indices = [(node, spans(numbers)) for node, numbers in by_node.items()]
    return [(node or before_index) + text.replace(",", f",{node}") for node, text in indices] + uuids


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
