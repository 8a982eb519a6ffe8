"""A batch file: read from a file or stdin, and decoded."""

from __future__ import annotations

import os

from tarmac.cli.files.reading import STDIN, read_file
from tarmac.cli.term.terminal import err
from tarmac.errors import UserError
from tarmac.typed.batch.source import Source, source_of

MOST_BYTES = 1 << 30


def read_source(path: str) -> Source:
    """Raises UserError if it cannot be read or is not UTF-8."""
    name = "stdin" if path == STDIN else path
    data = _data(path, name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UserError(f"add: {name} is UTF-16", "save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(name, data, error.start) from None
    return source_of(name, text)


def _data(path: str, name: str) -> bytes:
    if path == STDIN and os.isatty(0):
        err("tarmac: reading jobs from the terminal, one command per line; end with Ctrl-D\n")
    try:
        data = read_file(path, MOST_BYTES)
    except OSError as error:
        raise UserError(f"add: {name} cannot be read: {error.strerror}", "give a file, or - for stdin") from None
    if data is None:
        raise UserError(f"add: {name} is larger than 1 GB", "split it into several files")
    return data


def _not_utf8(name: str, data: bytes, at: int) -> UserError:
    line = data.count(b"\n", 0, at) + 1
    begin = data.rfind(b"\n", 0, at) + 1
    column = len(data[begin:at].decode("utf-8", "replace").removeprefix("\ufeff")) + 1
    return UserError(
        f"add: {name}:{line}:{column}: byte 0x{data[at]:02x} is not UTF-8; nothing was queued",
        f"save the file as UTF-8, such as with `iconv -f latin1 -t utf-8 {name}`",
    )
