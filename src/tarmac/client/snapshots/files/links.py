"""The paths of --link: they are not stored, and the job's checkout has links to them."""

from __future__ import annotations

import os

from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def checked_links(root: bytes, directory: bytes, links: Sequence[str]) -> list[bytes]:
    """Relative to the root. They are given relative to the working directory, or absolute."""
    found: dict[bytes, None] = {}
    for word in links:
        path = os.path.normpath(os.path.join(directory, os.fsencode(word)))
        inside = os.path.relpath(path, root)
        if inside in {b".", b".."} or inside.startswith(b"../"):
            raise UserError(
                f"--link {word}: {os.fsdecode(path)} is not below {os.fsdecode(root)}",
                "name something in the snapshot; other paths need no link",
            )
        if path == directory or directory.startswith(path + b"/"):
            raise UserError(
                f"--link {word}: the job's working directory is in it",
                "link to directories below it, such as --link data",
            )
        if not os.path.lexists(path):
            raise _missing(word, path)
        found[inside] = None
    tops = [one for one in found if not any(one != other and one.startswith(other + b"/") for other in found)]
    return sorted(tops)


def _missing(word: str, path: bytes) -> UserError:
    from difflib import get_close_matches

    try:
        names = [os.fsdecode(name) for name in os.listdir(os.path.dirname(path))]
    except OSError:
        names = []
    near = get_close_matches(os.path.basename(os.fsdecode(path)), names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"create it first: `mkdir {word}`"
    return UserError(f"--link {word}: {os.fsdecode(path)} does not exist", hint)
