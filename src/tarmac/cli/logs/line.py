"""One line of a log that is not plain: carriage returns, colours, and sequences that are not shown."""

from __future__ import annotations

import re

SGR = re.compile(rb"\x1b\[[0-9;:]*m")
# Titles, links and other strings for the terminal; one that does not end is cut.
STRINGS = re.compile(rb"\x1b(?:\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\|$)|[PX^_][^\x1b]{0,4096}(?:\x1b\\|$))")
# Movements to other lines, and inside this one in another way than by a carriage return.
MOVES = re.compile(rb"\x1b(?:\[[0-9;]*[ABCDEFGHJLMPSTX@`adefsu]|[78DEM])|\x0b")
# Control characters that are never shown, even inside a sequence; a bell may end a string for the terminal.
CONTROLS = re.compile(rb"[\x00-\x06\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
# Control characters of 8 bits, in UTF-8 or as single bytes. The group is any other character in UTF-8.
EIGHT_BITS = re.compile(
    rb"\xc2[\x80-\x9f]|([\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})|[\x80-\x9f]"
)
# Sequences other than those that are kept or that `visible` acts on. No other escape character remains.
IGNORED = re.compile(rb"\x1b(?!\[[0-9;:]*m|\[[0-2]?K)(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~]?)|\x07")
ACTS = re.compile(rb"[\r\b]|\x1b\[[0-2]?K")


def moves(line: bytes) -> bool:
    return MOVES.search(line) is not None


def rendered(line: bytes, *, colours: bool) -> bytes:
    """What is visible of a line at its end. Colours are kept, or removed."""
    line = without_eight_bits(STRINGS.sub(b"", CONTROLS.sub(b"", line)))
    line = IGNORED.sub(b"", line)  # the last, because what the others remove may join the parts of a sequence
    line = line if colours else SGR.sub(b"", line)
    return visible(line) if ACTS.search(line) else line


def without_eight_bits(data: bytes) -> bytes:
    """Without control characters of 8 bits. Bytes from A0 on that are not UTF-8 stay."""
    return data if data.isascii() else EIGHT_BITS.sub(lambda found: found.group(1) or b"", data)


def visible(line: bytes) -> bytes:
    """What is left after carriage returns. Most lines end with a part that hides all before it, which is fast."""
    if b"\b" in line or b"\x1b[" in SGR.sub(b"", line):
        return _emulated(line)
    showing: list[bytes] = []  # the newest part first; each is wider than those before it
    width = 0
    for part in reversed(line.split(b"\r")):
        if len(part) > width and (wide := _width(part)) > width:
            showing.append(part)
            width = wide
    if len(showing) < 2:
        return showing[0] if showing else b""
    if b"\x1b" in line:
        return _emulated(b"\r".join(reversed(showing)))
    texts = [part.decode("utf-8", "replace") for part in showing]
    if any(_may_be_wide(text) for text in texts):
        return _emulated(b"\r".join(reversed(showing)))
    text = ""
    for older in texts:
        text += older[len(text) :]
    return text.encode()


def _may_be_wide(text: str) -> bool:
    """Has characters that may take two columns? Bars and boxes take one."""
    return any(char >= "\u1100" and not "\u2500" <= char <= "\u25ff" for char in text)


def _width(part: bytes) -> int:
    return len(SGR.sub(b"", part).decode("utf-8", "replace"))


def _emulated(line: bytes) -> bytes:
    from tarmac.cli.logs.screen import Screen

    screen = Screen(colours=True, lines=2)
    return b"".join([*screen.feed(line, is_complete=False), *screen.finish()])
