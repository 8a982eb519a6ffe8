"""Copies the files of one record from its node, over the link, in pieces. May be interrupted anywhere and begun again.

A file that is there with the size and time of its original is not copied again, so a second run finds what is left.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from tarmac.controller.fetch.record import PartFile, Problem
from tarmac.controller.fetch.target import Original, Target, stays_inside
from tarmac.nodes.pace import Pace
from tarmac.nodes.steady import ask_steadily
from tarmac.shared import crashpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tarmac.controller.fetch.record import FetchRecord, ProblemKind
    from tarmac.core.model.ids import NodeName
    from tarmac.nodes.fleet import Fleet

MOST_FILES = 100_000  # and links and directories of one job
MOST_TRIES = 3  # for a file that changes meanwhile


class FileFacts(msgspec.Struct):
    name: str
    kind: str
    size: int
    mode: int
    mtime_ns: int
    target: str | None


class _Listed(msgspec.Struct):
    found: FileFacts | None
    entries: list[FileFacts]
    has_more: bool
    error: str | None


class _Read(msgspec.Struct):
    data: str
    size: int
    mtime_ns: int
    error: str | None


class _Changed(Exception):
    """The file is not the one that was listed."""


class _Unreadable(Exception):
    """What the node says."""


class FileCopy:
    def __init__(
        self,
        fleet: Fleet,
        record: FetchRecord,
        store: Callable[[], None],
        is_unchanged_code: Callable[[Original], bool],
    ) -> None:
        """`store` writes the record. Code that came with the job and was not changed by it is left out."""
        self._fleet = fleet
        self._record = record
        self._store = store
        self._is_unchanged_code = is_unchanged_code
        self._node: NodeName = record.node  # type: ignore[assignment]
        self._target = Target(record.target, record.job)
        self._pace = Pace()
        self._seen = 0

    async def run(self) -> None:
        """Raises NodeLeft. Trouble with a file is noted in the record."""
        for path in self._record.paths:
            try:
                await self._copy_path(path)
            except _Unreadable as error:
                self._note(path, "unreadable", str(error))
            if self._seen > MOST_FILES:
                self._note(path, "too_many", str(MOST_FILES))
                return

    async def _copy_path(self, path: str) -> None:
        """Copy a file, or a directory with all that is in it."""
        waiting = [path]
        while waiting and self._seen <= MOST_FILES:
            current = waiting.pop()
            is_made = False
            async for found, entries in self._pages(current):
                if found is None:
                    self._note(current, "missing")
                elif found.kind != "directory":
                    await self._copy_one(current, found)
                elif is_made or await self._has_directory(current, found.mode):
                    is_made = True
                    for entry in entries:
                        inner = entry.name if current == "." else f"{current}/{entry.name}"
                        if entry.kind == "directory":
                            waiting.append(inner)
                        else:
                            await self._copy_one(inner, entry)

    async def _pages(self, path: str) -> AsyncIterator[tuple[FileFacts | None, list[FileFacts]]]:
        after: str | None = None
        while True:
            answer = await ask_steadily(
                self._fleet,
                self._node,
                {"type": "list_files", "directory": self._record.directory, "name": path, "after": after},
            )
            page = msgspec.convert(answer, _Listed)
            if page.error is not None:
                raise _Unreadable(page.error)
            yield page.found, page.entries
            if not page.has_more or not page.entries:
                return
            after = page.entries[-1].name

    async def _has_directory(self, path: str, mode: int) -> bool:
        self._seen += 1
        try:
            is_there = await asyncio.to_thread(self._target.make_directory, path, mode)
        except OSError as error:
            self._note(path, "unwritable", error.strerror or str(error))
            return False
        if not is_there:
            self._note(path, "in_the_way")
        return is_there

    async def _copy_one(self, path: str, found: FileFacts) -> None:
        self._seen += 1
        original = Original(path, found.size, found.mode, found.mtime_ns, found.target)
        if found.kind == "other":
            self._note(path, "special")
        elif original.link is not None and not stays_inside(path, original.link):
            self._note(path, "link", original.link)
        elif self._is_unchanged_code(original):
            self._record.same += 1
        else:
            try:
                await self._copy_if_new(original)
            except _Unreadable as error:
                self._note(path, "unreadable", str(error))
            except OSError as error:
                self._note(path, "unwritable", error.strerror or str(error))

    async def _copy_if_new(self, original: Original) -> None:
        verdict = await asyncio.to_thread(self._target.judge, original)
        if verdict == "same":
            self._record.same += 1
        elif verdict != "copy":
            self._note(original.path, verdict)
        elif original.link is not None:
            await asyncio.to_thread(self._target.make_link, original)
            self._record.files += 1
        else:
            await self._copy_file(original)

    async def _copy_file(self, original: Original) -> None:
        for _ in range(MOST_TRIES):
            try:
                await self._copy_content(original)
            except _Changed as changed:
                original = original._replace(size=changed.args[0], mtime_ns=changed.args[1])
                continue
            crashpoint.reach("fetch:before-finish")
            await asyncio.to_thread(self._target.finish, original)
            crashpoint.reach("fetch:after-finish")
            self._record.files += 1
            self._record.part = None
            return
        await asyncio.to_thread(self._target.drop_part, original.path)
        self._note(original.path, "changing")

    async def _copy_content(self, original: Original) -> None:
        """Into a file that is beside it, from where an interrupted copy of the same file ended."""
        part = PartFile(path=original.path, size=original.size, mtime_ns=original.mtime_ns)
        offset = await asyncio.to_thread(self._target.part_size, original.path) if part == self._record.part else 0
        offset = offset if offset <= original.size else 0
        if part != self._record.part:
            if self._record.part is not None:  # of a file that could not be read to its end
                await asyncio.to_thread(self._target.drop_part, self._record.part.path)
            self._record.part = part
            await asyncio.to_thread(self._target.write_part, original.path, 0, b"")  # before the record names it
            await asyncio.to_thread(self._store)
        while offset < original.size:
            data = await self._piece(original, offset)
            if not data:
                raise _Changed(offset, original.mtime_ns)
            await asyncio.to_thread(self._target.write_part, original.path, offset, data)
            crashpoint.reach("fetch:after-piece")
            offset += len(data)
            self._record.bytes += len(data)

    async def _piece(self, original: Original, offset: int) -> bytes:
        began = monotonic()
        answer = await ask_steadily(
            self._fleet,
            self._node,
            {
                "type": "read_file",
                "directory": self._record.directory,
                "name": original.path,
                "offset": offset,
                "limit": self._pace.bytes,
            },
        )
        read = msgspec.convert(answer, _Read)
        if read.error is not None:
            raise _Unreadable(read.error)
        if (read.size, read.mtime_ns) != (original.size, original.mtime_ns):
            raise _Changed(read.size, read.mtime_ns)
        self._pace.took(monotonic() - began)
        return b64decode(read.data)

    def _note(self, path: str, kind: ProblemKind, detail: str = "") -> None:
        self._record.note_problem(Problem(path=_readable(path), kind=kind, detail=_readable(detail)))


def _readable(text: str) -> str:
    """A name of a file may be any bytes; those that are not UTF-8 are shown as numbers."""
    return text.encode("utf-8", "backslashreplace").decode()
