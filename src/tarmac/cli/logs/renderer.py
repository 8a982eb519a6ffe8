"""A log as a terminal would show it, piece by piece: plain lines pass through, rewritten ones are shown as they end.

Memory is bounded whatever the log holds. The last lines are held back, because the cursor may return to them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.cli.logs.screen import Screen

HELD_LINES = 60  # that the cursor can still change
LONGEST_LINE = 1 << 16  # that is kept whole while a progress bar rewrites it
CALM_LINES = 60  # lines without a movement after which the screen is left
# All bytes but the control characters that a terminal acts on; tab and newline are plain.
PLAIN = bytes(byte for byte in range(256) if (byte >= 0x20 and byte != 0x7F) or byte in b"\t\n")
C1 = [b"\xc2%c" % byte for byte in range(0x80, 0xA0)]  # control characters in UTF-8
NOT_C1 = bytes(byte for byte in range(256) if not 0x80 <= byte < 0xA0)


def is_plain(data: bytes) -> bool:
    return not data.translate(None, PLAIN) and (data.isascii() or not _has_c1(data))


def _has_c1(data: bytes) -> bool:
    """Control characters of 8 bits, in UTF-8 or, in a text that is not UTF-8, as single bytes."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return bool(data.translate(None, NOT_C1))
    return b"\xc2" in data and any(pair in data for pair in C1)


class LogRenderer:
    """`held`: how many lines to hold back for movements of the cursor; 0 shows each line as soon as it is complete."""

    def __init__(self, *, colours: bool, held: int = HELD_LINES) -> None:
        self.has_moved = False  # the cursor, to another line: several lines of the log may be one of the output
        self._colours = colours
        self._most_held = held
        self._held: list[bytes] = []
        self._rest = b""  # the line that is not complete yet
        self._screen: Screen | None = None
        self._calm = 0
        self._has_coloured = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield lines that no longer change, with their newlines, many at once."""
        data = self._rest + data
        end = data.rfind(b"\n") + 1
        whole, self._rest = data[:end], data[end:]
        if whole:
            yield from self._lines(whole)
        if len(self._rest) > LONGEST_LINE:
            yield from self._shorten()

    def finish(self) -> Iterator[bytes]:
        """The rest. The last line ends as it does in the log, with or without a newline."""
        if self._screen is not None:
            yield from self._screen.feed(self._rest, is_complete=False)
            yield from self._screen.finish()
            self._screen = None
        else:
            last = self._rest
            if last and not is_plain(last) and self._moves(last):
                yield from self._enter_screen()
                yield from self.finish()
                return
            yield from self._emit(self._held, 0)
            yield self._rendered(last) if last else b""
        if self._has_coloured:
            yield b"\x1b[0m"
        self._held, self._rest, self._has_coloured = [], b"", False

    # Complete lines

    def _lines(self, data: bytes) -> Iterator[bytes]:
        if self._screen is None and (simple := self._simple(data)) is not None:
            yield from self._plain(simple)
            return
        for line in data[:-1].split(b"\n"):
            if self._screen is None and self._moves(line):
                yield from self._enter_screen()
            if self._screen is None:
                self._held.append(line)
            else:
                yield from self._on_screen(line)
        if self._screen is None:
            yield from self._emit(self._held, self._most_held)

    def _simple(self, data: bytes) -> bytes | None:
        """All lines at once, if they have nothing special but colours."""
        if is_plain(data):
            return data
        if b"\x1b" not in data or b"\r" in data:
            return None
        from tarmac.cli.logs.line import SGR

        without = SGR.sub(b"", data)
        if not is_plain(without):
            return None
        self._has_coloured = self._colours
        return data if self._colours else without

    def _plain(self, data: bytes) -> Iterator[bytes]:
        """Without a look at each line, of which there may be millions."""
        begin = len(data)
        for _ in range(self._most_held + 1):
            begin = data.rfind(b"\n", 0, begin)
            if begin < 0:
                break
        begin += 1
        if begin:
            yield from self._emit(self._held, 0)
            self._held = []
            yield data[:begin]
        if begin < len(data):
            self._held += data[begin:-1].split(b"\n")
            yield from self._emit(self._held, self._most_held)

    def _emit(self, lines: list[bytes], leave: int) -> Iterator[bytes]:
        count = len(lines) - leave
        if count > 0:
            yield b"".join(self._rendered(line) + b"\n" for line in lines[:count])
            del lines[:count]

    def _rendered(self, line: bytes) -> bytes:
        if is_plain(line):
            return line
        from tarmac.cli.logs.line import rendered

        self._has_coloured = self._colours
        return rendered(line, colours=self._colours)

    def _shorten(self) -> Iterator[bytes]:
        """A long line without an end: of a progress bar, keep what is visible; show the beginning of any other."""
        before, bar, last = self._rest.rpartition(b"\r")
        if bar and len(last) <= LONGEST_LINE:
            from tarmac.cli.logs.line import visible

            self._rest = visible(before) + bar + last
        if len(self._rest) > LONGEST_LINE:
            yield from self.finish()

    # Movements of the cursor

    def _moves(self, line: bytes) -> bool:
        if not self._most_held or (b"\x1b" not in line and b"\x0b" not in line):
            return False
        from tarmac.cli.logs.line import moves

        return moves(line)

    def _enter_screen(self) -> Iterator[bytes]:
        from tarmac.cli.logs.screen import Screen

        yield from self._emit(self._held, HELD_LINES)
        self.has_moved = True
        self._screen = Screen(colours=self._colours, lines=HELD_LINES * 2)
        for line in self._held:
            list(self._screen.feed(line))  # they fit, so none is complete
        self._held, self._calm = [], 0

    def _on_screen(self, line: bytes) -> Iterator[bytes]:
        assert self._screen is not None
        yield from self._screen.feed(line)
        self._calm = 0 if self._moves(line) else self._calm + 1
        if self._calm >= CALM_LINES and self._screen.is_at_end:
            yield from self._screen.finish()
            self._screen = None
