"""What differs between two trees: files that were added, removed or changed, and the text of the differences."""

from __future__ import annotations

import os
from typing import NamedTuple

from tarmac.shared.snapshots.objects import CHUNKS, DIRECTORY, FILE, LINK, Entry, pieces, target_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Literal

    from tarmac.shared.snapshots.objects import Read

LARGEST_TEXT_BYTES = 4 << 20  # of a file that is compared line by line
_LOOKED_AT_BYTES = 8000  # for a zero byte, as git does


class Side(NamedTuple):
    entries: Mapping[bytes, Entry]
    read: Read


class Difference(NamedTuple):
    path: bytes
    before: Entry | None
    after: Entry | None

    @property
    def kind(self) -> Literal["added", "removed", "changed"]:
        return "added" if self.before is None else "removed" if self.after is None else "changed"


def differences(before: Mapping[bytes, Entry], after: Mapping[bytes, Entry]) -> list[Difference]:
    """By path. Permissions count only for the owner's right to execute, as in git; directories if they are empty."""
    found = []
    filled_before, filled_after = _filled(before), _filled(after)
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if _aspect(old) != _aspect(new) and not (path in filled_before or path in filled_after):
            found.append(Difference(path, old, new))
    return found


def _aspect(entry: Entry | None) -> object:
    if entry is None or entry.kind == DIRECTORY:
        return entry and DIRECTORY
    return entry.hash, entry.kind == LINK, entry.mode & 0o100


def _filled(entries: Mapping[bytes, Entry]) -> set[bytes]:
    """Directories with something in them: they are not listed, what is in them is."""
    return {path.rpartition(b"/")[0] for path in entries}


def text_of(
    difference: Difference,
    before: Side,
    after: Side,
    largest_bytes: int = LARGEST_TEXT_BYTES,
    most_lines: int | None = None,
) -> Iterator[str]:
    """As a unified diff, as git writes it, without line ends. Larger files are compared as a whole.

    `most_lines`: of a file that is compared; the time grows with the square of them.
    """
    path, old, new = difference
    name = _name(path)
    yield f"diff --tarmac a/{name} b/{name}"
    yield from _modes(old, new)
    if old is not None and new is not None and old.hash == new.hash and (old.kind == LINK) == (new.kind == LINK):
        return
    first, second = _content(old, before.read, largest_bytes), _content(new, after.read, largest_bytes)
    from_name = "/dev/null" if old is None else f"a/{name}"
    to_name = "/dev/null" if new is None else f"b/{name}"
    if first is None or second is None:
        yield f"Binary files {from_name} and {to_name} differ"
        return
    if most_lines is not None and first and second and max(first.count("\n"), second.count("\n")) > most_lines:
        yield f"{name} is too long to compare: more than {most_lines:,} lines"
        return
    yield from _unified(first, second, from_name, to_name)


def _modes(old: Entry | None, new: Entry | None) -> Iterator[str]:
    if old is None:
        yield f"new {_mode(new)}"
    elif new is None:
        yield f"deleted {_mode(old)}"
    elif _mode(old) != _mode(new):
        yield f"old {_mode(old)}"
        yield f"new {_mode(new)}"


def _mode(entry: Entry | None) -> str:
    if entry is None or entry.kind == DIRECTORY:
        return "directory"
    if entry.kind == LINK:
        return "file mode 120000"
    return "file mode 100755" if entry.mode & 0o100 else "file mode 100644"


def _content(entry: Entry | None, read: Read, largest_bytes: int) -> str | None:
    """None if it is not text."""
    if entry is None or entry.kind == DIRECTORY:
        return ""
    if entry.kind == LINK:
        return os.fsdecode(target_of(read, entry))
    if entry.kind not in (FILE, CHUNKS) or entry.size > largest_bytes:
        return None
    data = b"".join(pieces(read, entry))
    return None if b"\0" in data[:_LOOKED_AT_BYTES] else data.decode("utf-8", "backslashreplace")


def _unified(first: str, second: str, from_name: str, to_name: str) -> Iterator[str]:
    from difflib import unified_diff

    old, new = _lines(first), _lines(second)
    for place, line in enumerate(unified_diff(old, new, from_name, to_name, lineterm="")):
        if place < 2 or line.startswith("@@"):
            yield line
        elif line.endswith("\n"):
            yield line[:-1]
        else:
            yield line
            yield "\\ No newline at end of file"


def _lines(text: str) -> Sequence[str]:
    """With their line ends, split at newlines only."""
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _name(path: bytes) -> str:
    """In quotes if it has control characters, so that each difference is one line."""
    text = path.decode("utf-8", "backslashreplace")
    return text if text.isprintable() else '"' + text.encode("unicode_escape").decode().replace('"', '\\"') + '"'
