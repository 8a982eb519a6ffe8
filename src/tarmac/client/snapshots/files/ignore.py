"""`.tarmacignore`: which files of a directory without git do not belong to a snapshot. The common part of gitignore.

A line is a pattern: `*.log`, `data/`, `/build`, `docs/**/*.pdf`, `!keep.log`. The last matching line counts. A pattern
with a slash inside or in front is relative to the file's directory; another one matches at any depth. A pattern with a
slash at its end matches directories only. What is below an ignored directory cannot be included again.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

FILE = b".tarmacignore"
_ALWAYS = (b".git",)


class Pattern(NamedTuple):
    expression: re.Pattern[bytes]
    is_negated: bool
    for_directories: bool


def parse(text: bytes, base: bytes = b"") -> list[Pattern]:
    """The patterns of a file in the directory `base`, given with a slash at its end."""
    return [pattern for line in text.split(b"\n") if (pattern := _pattern(line.rstrip(b"\r"), base)) is not None]


def is_ignored(path: bytes, patterns: list[Pattern], *, is_directory: bool) -> bool:
    """Whether the path itself is ignored; the caller does not descend into ignored directories."""
    if os.path.basename(path) in _ALWAYS:
        return True
    for pattern in reversed(patterns):
        if (is_directory or not pattern.for_directories) and pattern.expression.fullmatch(path):
            return not pattern.is_negated
    return False


def _pattern(line: bytes, base: bytes) -> Pattern | None:
    line = _without_trailing_spaces(line)
    if not line or line.startswith(b"#"):
        return None
    is_negated = line.startswith(b"!")
    line = line[1:] if is_negated else line
    for_directories = line.endswith(b"/")
    line = line.rstrip(b"/") if for_directories else line
    is_anchored = b"/" in line
    line = line.removeprefix(b"/")
    if not line:
        return None
    prefix = re.escape(base) if is_anchored else re.escape(base) + b"(?:.*/)?"
    return Pattern(re.compile(prefix + _expression(line), re.DOTALL), is_negated, for_directories)


def _without_trailing_spaces(line: bytes) -> bytes:
    stripped = line.rstrip(b" ")
    return stripped + b" " if stripped.endswith(b"\\") and stripped != line else stripped


def _expression(pattern: bytes) -> bytes:
    """As a regular expression. `*` and `?` do not match a slash, `**` as a whole name does."""
    parts: list[bytes] = []
    at = 0
    while at < len(pattern):
        if pattern[at:] == b"/**":
            parts.append(b"/.+")
            break
        if pattern.startswith(b"**/", at) and (at == 0 or pattern[at - 1 : at] == b"/"):
            parts.append(b"(?:.*/)?")
            at += 3
            continue
        char = pattern[at : at + 1]
        at += 1
        if char == b"*":
            parts.append(b"[^/]*")
        elif char == b"?":
            parts.append(b"[^/]")
        elif char == b"[" and (end := _end_of_set(pattern, at)):
            parts.append(_set(pattern[at:end]))
            at = end + 1
        elif char == b"\\" and at < len(pattern):
            parts.append(re.escape(pattern[at : at + 1]))
            at += 1
        else:
            parts.append(re.escape(char))
    return b"".join(parts)


def _end_of_set(pattern: bytes, at: int) -> int:
    """Where `[a-z]` ends; 0 if it does not. A bracket at its beginning belongs to it."""
    start = at + 1 if pattern[at : at + 1] in (b"!", b"^") else at
    return max(pattern.find(b"]", start + 1), 0)


def _set(inside: bytes) -> bytes:
    is_negated = inside[:1] in (b"!", b"^")
    members = (inside[1:] if is_negated else inside).replace(b"\\", b"\\\\").replace(b"[", b"\\[").replace(b"]", b"\\]")
    return b"(?!/)[" + (b"^" if is_negated else b"") + members + b"]"
