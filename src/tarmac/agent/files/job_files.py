"""Lists and reads the files that `--fetch` copies back. For a file helper.

No symbolic link is followed below the working directory of the job, so nothing outside of it is ever read.
"""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator, List, Optional, Tuple

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import ListFilesFrame, ReadFileFrame
    from tarmac.shared.frames.to_controller import FileEntry, FileKind, FileReadFrame, FilesListedFrame

MOST_ENTRIES = 1000  # in one answer
MOST_BYTES = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO without a writer must not hang


def list_files(request: ListFilesFrame) -> FilesListedFrame:
    """Describe a path; of a directory, also the entries after a name, in the order of their names."""
    answer: FilesListedFrame = {
        "type": "files_listed", "ref": request.get("ref"), "found": None, "entries": [], "has_more": False,
        "error": None,
    }  # fmt: skip
    try:
        with _parent(request["directory"], request["name"]) as (parent, name):
            found = answer["found"] = _describe(parent, name)
            if found is not None and found["kind"] == "directory":
                directory = os.open(name, _DIRECTORY, dir_fd=parent)
                try:
                    entries, answer["has_more"] = _entries(directory, request["after"])
                    answer["entries"] = entries
                finally:
                    os.close(directory)
    except FileNotFoundError:
        answer["found"] = None
    except OSError as error:
        answer["error"] = error.strerror or str(error)
    return answer


def read_file(request: ReadFileFrame) -> FileReadFrame:
    answer: FileReadFrame = {
        "type": "file_read", "ref": request.get("ref"), "data": "", "size": 0, "mtime_ns": 0, "error": None,
    }  # fmt: skip
    try:
        with _parent(request["directory"], request["name"]) as (parent, name):
            fd = os.open(name, _FILE, dir_fd=parent)
        try:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                answer["error"] = "not a regular file"
                return answer
            data = os.pread(fd, min(request["limit"], MOST_BYTES), request["offset"])
            answer["data"] = b64encode(data).decode("ascii")
            answer["size"], answer["mtime_ns"] = info.st_size, info.st_mtime_ns
        finally:
            os.close(fd)
    except OSError as error:
        answer["error"] = error.strerror or str(error)
    return answer


@contextmanager
def _parent(root: str, path: str) -> Iterator[Tuple[int, str]]:
    """The open directory that has the last part of the path. Raises OSError if a part is a symbolic link."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) and path != ".":
        raise OSError(f"{path} does not name a file in the directory of the job")
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = inner
        yield fd, parts[-1]
    finally:
        os.close(fd)


def _entries(directory: int, after: Optional[str]) -> Tuple[List[FileEntry], bool]:
    names = sorted(name for name in os.listdir(directory) if after is None or name > after)
    described = (_describe(directory, name) for name in names[:MOST_ENTRIES])
    return [entry for entry in described if entry is not None], len(names) > MOST_ENTRIES


def _describe(parent: int, name: str) -> Optional[FileEntry]:
    """None if it is gone."""
    try:
        info = os.stat(name, dir_fd=parent, follow_symlinks=False)
        kind = _kind(info.st_mode)
        target = os.readlink(name, dir_fd=parent) if kind == "link" else None
    except FileNotFoundError:
        return None
    return {
        "name": name,
        "kind": kind,
        "size": info.st_size,
        "mode": stat.S_IMODE(info.st_mode) & 0o777,
        "mtime_ns": info.st_mtime_ns,
        "target": target,
    }


def _kind(mode: int) -> FileKind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"
