"""Lists a directory without git: everything in it that no `.tarmacignore` leaves out."""

from __future__ import annotations

import os
import stat

from tarmac.client.snapshots.files import ignore
from tarmac.client.snapshots.files.listing import Listing
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_KINDS = {stat.S_IFSOCK: "a socket", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def list_directory(root: bytes, leave_out: Collection[bytes] = ()) -> Listing:
    """`leave_out` are paths that are not even looked at."""
    listing = Listing()
    _walk(listing, root, b"", [], leave_out)
    return listing


def _walk(
    listing: Listing, root: bytes, prefix: bytes, patterns: list[ignore.Pattern], leave_out: Collection[bytes]
) -> None:
    directory = os.path.join(root, prefix)
    try:
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except FileNotFoundError:
        return  # it vanished
    except OSError as error:
        raise unreadable(directory, error) from None
    patterns = [*patterns, *_patterns(directory, prefix)]
    is_empty = True
    for entry in entries:
        path = prefix + entry.name
        is_directory = entry.is_dir(follow_symlinks=False)
        if path in leave_out or ignore.is_ignored(path, patterns, is_directory=is_directory):
            if is_directory:
                listing.ignored.append(path)
            continue
        is_empty = False
        if is_directory:
            _walk(listing, root, path + b"/", patterns, leave_out)
        elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
            listing.files[path] = None
        else:
            listing.notes.append(skipped(path, entry.stat(follow_symlinks=False).st_mode))
    if is_empty and prefix:
        listing.directories.add(prefix[:-1])


def _patterns(directory: bytes, prefix: bytes) -> list[ignore.Pattern]:
    try:
        with open(os.path.join(directory, ignore.FILE), "rb") as file:
            return ignore.parse(file.read(), prefix)
    except (FileNotFoundError, IsADirectoryError):
        return []
    except OSError as error:
        raise unreadable(os.path.join(directory, ignore.FILE), error) from None


def skipped(path: bytes, mode: int) -> str:
    kind = _KINDS.get(stat.S_IFMT(mode), "not a file")
    return f"{os.fsdecode(path)} is {kind} and is not part of the snapshot"


def unreadable(path: bytes, error: OSError) -> UserError:
    return UserError(
        f"the snapshot cannot include {os.fsdecode(path)}: {error.strerror}",
        "make it readable, or leave it out: with .gitignore, without git in .tarmacignore, or with --link; "
        "to run the job without a snapshot, use --no-snapshot",
    )
