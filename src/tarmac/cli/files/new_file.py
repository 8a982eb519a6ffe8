"""A new file: private, complete or absent, and never in the place of another."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress

from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


class NewFile:
    """`path`: where it is while it is written."""

    __slots__ = ("file", "path")

    def __init__(self, path: str, file: BinaryIO) -> None:
        self.path = path
        self.file = file


def refuse_existing(verb: str, path: str) -> None:
    if os.path.lexists(path):
        raise UserError(f"{verb}: {path} exists already", "give another name, or remove the file first")


@contextmanager
def new_file(verb: str, path: str) -> Iterator[NewFile]:
    """Written beside the place and moved there at the end, on disk. Only its owner can read it."""
    refuse_existing(verb, path)
    folder, name = os.path.split(os.path.abspath(path))
    part = os.path.join(folder, f".{name[:200]}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        hint = "give a path in a directory that exists and that you may write to"
        raise UserError(f"{verb}: cannot write {path}: {error.strerror}", hint) from None
    try:
        with open(descriptor, "w+b") as file:
            yield NewFile(part, file)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(verb, part, path)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        hint = "free some space on its disk, or give a path on another disk"
        raise UserError(f"{verb}: cannot write {path}: {error.strerror}", hint) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def put_in_place(verb: str, part: str, path: str) -> None:
    """Give a finished file its name, unless another has it by now."""
    try:
        os.link(part, path)
    except FileExistsError:
        refuse_existing(verb, path)
    except OSError:  # a file system without hard links
        refuse_existing(verb, path)
        os.rename(part, path)
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
