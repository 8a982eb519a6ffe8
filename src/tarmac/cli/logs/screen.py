"""A terminal in memory, for logs that move the cursor. Lines that scroll out of it are final.

So are lines that a program clears, or that are there when it first goes to a row by its number: text that was in the
log stays readable. From then on, rows are counted from the next line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyte
import pyte.screens

from tarmac.cli.logs.line import STRINGS, without_eight_bits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEAST_COLUMNS = 200  # wider than programs assume without a terminal
_RESET = b"\x1b[m\x1b[2J\x1b[H"
_HOME_AND_CLEAR = re.compile(rb"\x1b\[[01]?(?:;[01]?)?[Hf]((?:\x1b\[[0-9;]*m)*)\x1b\[0?J")
_COLOURS = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_STYLES = (
    ("bold", "1"),
    ("italics", "3"),
    ("underscore", "4"),
    ("blink", "5"),
    ("reverse", "7"),
    ("strikethrough", "9"),
)


class Screen:
    def __init__(self, *, colours: bool, lines: int) -> None:
        self._colours = colours
        self._memory = _Memory(LEAST_COLUMNS, lines)
        self._stream = pyte.Stream(self._memory)

    @property
    def is_at_end(self) -> bool:
        """Nothing is below the cursor."""
        below = range(self._memory.cursor.y, self._memory.lines)
        return not any(self._memory.buffer[y] for y in below if y in self._memory.buffer)

    def feed(self, line: bytes, *, is_complete: bool = True) -> Iterator[bytes]:
        """Write a line, without its newline. Yields what scrolls out."""
        text = _as_pyte_knows_it(without_eight_bits(STRINGS.sub(b"", line))).decode("utf-8", "replace")
        longest = max(map(_most_columns, text.split("\r"))) + self._memory.cursor.x
        if longest >= self._memory.columns:
            self._memory.resize(columns=longest + 1)
        self._stream.feed(text + ("\r\n" if is_complete else ""))
        for row in self._memory.take_scrolled():
            yield self._text(row) + b"\n"

    def finish(self) -> Iterator[bytes]:
        """Yield all that is visible."""
        used = [y for y, row in self._memory.buffer.items() if row]
        last = max([*used, self._memory.cursor.y]) if used else -1
        for y in range(last + 1):
            is_open = y == last and self._memory.cursor.y <= y
            text = self._text(self._memory.buffer[y])
            if text or not is_open:
                yield text + (b"" if is_open else b"\n")
        self._memory.reset()

    def _text(self, row: Mapping[int, Any]) -> bytes:
        text, style = "", ""
        for x in range(max(row, default=-1) + 1):
            char = row.get(x, self._memory.default_char)
            if self._colours and (wanted := _style(char)) != style:
                text += f"\x1b[0;{wanted}m" if wanted and style else f"\x1b[{wanted or '0'}m"
                style = wanted
            text += char.data
        text = text if style else text.rstrip(" ")
        return (text + ("\x1b[0m" if style else "")).encode()


def _as_pyte_knows_it(line: bytes) -> bytes:
    line = line.replace(b"\x1b[s", b"\x1b7").replace(b"\x1b[u", b"\x1b8").replace(b"\x1bc", _RESET)
    return _HOME_AND_CLEAR.sub(b"\\1\x1b[H\x1b[2J", line)


def _most_columns(text: str) -> int:
    return len(text) * (1 if text.isascii() else 2) + 8 * text.count("\t")


class _Memory(pyte.Screen):
    """Keeps rows that scroll out or are cleared, and only the cells that were written."""

    def __init__(self, columns: int, lines: int) -> None:
        self._scrolled: list[Mapping[int, Any]] = []
        super().__init__(columns, lines)
        self._has_page = False  # the program went to a row by its number, and none scrolled out since

    def begin_page(self) -> None:
        """All rows are final, and the next one is the first."""
        count = max((y for y, row in self.buffer.items() if row), default=-1) + 1
        self._scrolled += [dict(self.buffer[y]) for y in range(count)]
        self.buffer.clear()
        self.cursor.y = 0
        for saved in self.savepoints:
            saved.cursor.y = max(0, saved.cursor.y - count)

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        self._go_to_page()
        super().cursor_position(line, column)

    def cursor_to_line(self, line: int | None = None) -> None:
        self._go_to_page()
        super().cursor_to_line(line)

    def _go_to_page(self) -> None:
        if not getattr(self, "_has_page", True):
            self.begin_page()
        self._has_page = True

    def take_scrolled(self) -> list[Mapping[int, Any]]:
        rows, self._scrolled = self._scrolled, []
        return rows

    def index(self) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom:
            self._scrolled.append(dict(self.buffer[top]))
            self._has_page = self._has_page and self.margins is not None
        super().index()

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: FBT001, FBT002, ARG002  as in pyte
        row, at = self.buffer[self.cursor.y], self.cursor.x
        for x in list(row):
            if how == 2 or (x >= at if how == 0 else x <= at):
                del row[x]

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:  # noqa: ARG002  as in pyte
        if how in {2, 3} or (how == 1 and not any(row for y, row in self.buffer.items() if y > self.cursor.y)):
            self.begin_page()
            return
        for y in list(self.buffer):
            if y > self.cursor.y if how == 0 else y < self.cursor.y:
                self.buffer[y].clear()
        self.erase_in_line(how)


def _style(char: Any) -> str:
    codes = [code for name, code in _STYLES if getattr(char, name)]
    codes += _colour(char.fg, 30) + _colour(char.bg, 40)
    return ";".join(codes)


def _colour(name: str, base: int) -> list[str]:
    if name == "default":
        return []
    if name in _COLOURS:
        return [str(base + _COLOURS.index(name))]
    if name.startswith("bright") and name[6:] in _COLOURS:
        return [str(base + 60 + _COLOURS.index(name[6:]))]
    if len(name) == 6 and all(digit in "0123456789abcdefABCDEF" for digit in name):
        red, green, blue = (int(name[at : at + 2], 16) for at in (0, 2, 4))
        return [f"{base + 8};2;{red};{green};{blue}"]
    return []
