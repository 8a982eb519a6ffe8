"""Control sequences that are passed on to a terminal, and those that are not."""

from __future__ import annotations

import re

from tarmac.cli.logs.line import CONTROLS, SGR, without_eight_bits

LONGEST = 4096  # a sequence that is not complete by then never will be
# The first group is harmless: the cursor moves, text is erased, colours change. What has scrolled out is not erased.
# No other escape character remains.
SEQUENCE = re.compile(
    rb"(?!\x1b\[[0-9;:]*3J)(\x1b\[[0-9;:]*[ABCDEFGHJKLMPSTXabdefmsu@`]|\x1b[78])|"
    rb"\x1b\[[0-?]*[ -/]*[@-~]|"
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*(?:\x1b\\)|\x1b[ -/]*[0-Z\\`-~]|\x1b"
)
INCOMPLETE = re.compile(
    rb"(?:\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)|"
    rb"[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)


def harmless(data: bytes, *, colours: bool) -> tuple[bytes, bytes]:
    """What may be written to a terminal, and the beginning of a sequence or character that is not complete yet."""
    data, rest = CONTROLS.sub(b"", data), b""
    if (open_end := INCOMPLETE.search(data)) is not None:
        rest = data[open_end.start() :]
        data = data[: open_end.start()]
        rest = b"" if len(rest) > LONGEST else rest
    clean = SEQUENCE.sub(lambda found: found.group(1) or b"", without_eight_bits(data))
    return (clean if colours else SGR.sub(b"", clean)), rest
