"""Reads the controller's own log in parts, without the secrets that may be in it.

A part ends with a line. Its place names the file as well, because the log is renamed when it has grown large.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.notify.masking import without_secrets, without_urls
from tarmac.shared.secret_names import MASK, is_secret

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST_PART = 256 * 1024
_PLACE = re.compile(r"([0-9]{1,19})\.([0-9]{1,18})")
_ASSIGNED = re.compile(r"""([A-Za-z_]\w{0,99})(\s?[=:]\s?)("[^"]*"|'[^']*'|[^\s,;]+)""")


class LogPart(NamedTuple):
    text: str
    place: str  # where the next part begins
    is_cut: bool  # there is more before it, or the place given belongs to a file that was renamed


def last_lines(path: str, count: int) -> LogPart:
    """The last lines of the file, at most `LARGEST_PART` bytes."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        begin = max(0, size - LARGEST_PART)
        file.seek(begin)
        data = _whole_lines(file.read(size - begin))
        lines = data.splitlines(keepends=True)
        if begin:
            lines = lines[1:]  # only its end was read
        kept = lines[-count:]
        place = _place(file.fileno(), begin + len(data))
        return LogPart(_text(kept), place, is_cut=begin > 0 or len(kept) < len(lines))


def lines_after(path: str, place: str, count: int) -> LogPart:
    """What was written since the part with this place was read."""
    known = _PLACE.fullmatch(place)
    with open(path, "rb") as file:
        info = os.fstat(file.fileno())
        if known and int(known[1]) == info.st_ino and info.st_size - LARGEST_PART <= int(known[2]) <= info.st_size:
            offset = int(known[2])
            file.seek(offset)
            data = _whole_lines(file.read(LARGEST_PART))
            return LogPart(_text([data]), _place(file.fileno(), offset + len(data)), is_cut=False)
    return last_lines(path, count)._replace(is_cut=True)


def without_any_secret(text: str, urls: Iterable[str]) -> str:
    """The text without the secrets of these targets, of other URLs, and of variables such as HF_TOKEN=…."""
    for url in urls:
        text = without_secrets(text, url)
    return _ASSIGNED.sub(_hidden, without_urls(text))


def _hidden(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    return f"{name}{between}{MASK}" if is_secret(name, value.strip("\"'")) else found[0]


def _whole_lines(data: bytes) -> bytes:
    """Without a line that is still being written, so that no secret is read in halves."""
    end = data.rfind(b"\n") + 1
    return data[:end] if end or len(data) < LARGEST_PART else data


def _text(lines: Iterable[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "replace")


def _place(fd: int, offset: int) -> str:
    return f"{os.fstat(fd).st_ino}.{offset}"
