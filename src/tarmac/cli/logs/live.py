"""Output that is followed on a terminal: the terminal itself acts on movements and colours, but on nothing else.

Titles, links, clipboards, questions to the terminal and other modes are removed: another user may have written them.
"""

from __future__ import annotations

from tarmac.cli.logs.renderer import is_plain


class LiveFilter:
    def __init__(self, *, colours: bool) -> None:
        self._colours = colours
        self._rest = b""  # a sequence or a character that is not complete yet

    def feed(self, data: bytes) -> bytes:
        if not self._rest and is_plain(data) and data[-3:].isascii():
            return data
        from tarmac.cli.logs.sequences import harmless

        clean, self._rest = harmless(self._rest + data, colours=self._colours)
        return clean

    def finish(self) -> bytes:
        """The rest. Leaves the terminal as it was."""
        rest, self._rest = self._rest, b""
        text = b"" if not rest or rest.startswith(b"\x1b") else rest[:1]  # the first byte of a character is not UTF-8
        return text + (b"\x1b[0m" if self._colours else b"")
