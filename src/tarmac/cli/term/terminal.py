"""The output streams of a command: data on stdout, messages on stderr.

Unbuffered, so that nothing is left to flush when a command ends early. Colours only on a terminal.
"""

from __future__ import annotations

import os
import sys
from errno import ENOSPC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STYLES = {
    "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36",
    "bold red": "1;31",
}  # fmt: skip
STDOUT, STDERR = 1, 2


def out(text: str) -> None:
    out_bytes(_encoded(text, sys.stdout))


def out_bytes(data: bytes) -> None:
    try:
        _write(STDOUT, data)
    except OSError as error:
        from tarmac.errors import Unavailable

        hint = "free some space on the disk, or write to another file" if error.errno == ENOSPC else None
        raise Unavailable(f"cannot write to standard output: {error.strerror}", hint) from None


def err_bytes(data: bytes) -> None:
    _write(STDERR, data)


def err(text: str) -> None:
    try:
        _write(STDERR, _encoded(text, sys.stderr))
    except OSError:
        pass  # stderr is gone, so the failure cannot be reported


def say(text: str) -> None:
    """Print a message, but only on a terminal."""
    if is_terminal(STDERR):
        err(f"{text}\n")


def out_json(value: Any) -> None:
    if is_terminal(STDOUT):
        import json

        out(json.dumps(value, indent=2) + "\n")
    else:
        from tarmac.client.fast.json_codec import encode

        out(encode(value) + "\n")


def is_terminal(stream: int) -> bool:
    try:
        return os.isatty(stream)
    except OSError:
        return False


def has_colours(stream: int = STDOUT) -> bool:
    environ = os.environ
    return not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb" and is_terminal(stream)


def paint(text: str, style: str | None) -> str:
    """Add a style, for a stream that has colours."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style else text


def width(stream: int = STDOUT) -> int | None:
    """Columns of the terminal; None if the stream is not a terminal."""
    return size(stream)[0] if is_terminal(stream) else None


def size(stream: int = STDOUT) -> tuple[int, int]:
    try:
        columns, lines = os.get_terminal_size(stream)
    except OSError:
        columns, lines = 0, 0
    return columns or 80, lines or 24


def _encoded(text: str, stream: Any) -> bytes:
    return text.encode(getattr(stream, "encoding", None) or "utf-8", "replace")


def _write(stream: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(stream, view) :]
