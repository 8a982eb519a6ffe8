"""The files that are to be copied back for one job, and how far that is. Stored in a file of the state directory.

The record is on disk before the job starts, so a controller that is killed at any moment finds what is left to do.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

DIRECTORY = "fetches"  # in the state directory
MOST_PROBLEMS = 20  # that are listed; the others are counted
FetchState: TypeAlias = Literal[
    "waiting",  # for the end of the job, or for its node
    "copying",
    "done",
    "partial",  # done, but some files could not be copied
    "shared",  # nothing to do: both machines have the same files
]
# Why a path was not copied. The API says it in words.
ProblemKind: TypeAlias = Literal[
    "missing", "newer", "link", "special", "in_the_way", "changing", "unreadable", "unwritable", "too_many"
]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    kind: ProblemKind
    detail: str = ""


class PartFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file that is being copied, as it was when that began."""

    path: str
    size: int
    mtime_ns: int


class FetchRecord(msgspec.Struct, kw_only=True):
    job: int
    attempt: int
    node: str
    directory: str  # where the job ran, as the controller names it
    target: str
    paths: list[str]
    state: FetchState = "waiting"
    files: int = 0  # copied
    bytes: int = 0
    same: int = 0  # that were there already
    problems: list[Problem] = []
    more_problems: int = 0
    part: PartFile | None = None

    @property
    def is_over(self) -> bool:
        return self.state in {"done", "partial", "shared"}

    def note_problem(self, problem: Problem) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self.more_problems += 1

    def begin_again(self) -> None:
        """Count from the beginning. What was copied before is found there again."""
        self.files = self.bytes = self.same = self.more_problems = 0
        self.problems = []


class FetchRecords:
    """The only reader and writer of the files. Unlike msgspec, `json` also writes names that are not UTF-8."""

    def __init__(self, state_folder: Path) -> None:
        self._folder = state_folder / DIRECTORY

    def load(self) -> dict[int, FetchRecord]:
        """All records. One that cannot be read is dropped: its job shows what it asked for."""
        found: dict[int, FetchRecord] = {}
        for path in self._folder.glob("*.json") if self._folder.is_dir() else ():
            try:
                record = msgspec.convert(json.loads(path.read_bytes()), FetchRecord)
            except (OSError, ValueError):
                path.unlink(missing_ok=True)
                continue
            found[record.job] = record
        return found

    def store(self, record: FetchRecord) -> None:
        """On disk when this returns."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        new = self._folder / f"{record.job}.new"
        with new.open("wb") as file:
            file.write(json.dumps(msgspec.to_builtins(record)).encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._folder / f"{record.job}.json")

    def remove(self, job: int) -> None:
        (self._folder / f"{job}.json").unlink(missing_ok=True)
