"""The file that --svg names. An earlier picture is drawn anew; whatever else is there stays."""

from __future__ import annotations

import os

from tarmac.errors import UserError

SVG = b"<svg"


def check(path: str) -> None:
    """Before anything is simulated: hours of it may not end in a typing mistake."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UserError(f"simulate: --svg {path}: directory {folder} does not exist")
    if os.path.lexists(path) and not _may_be_replaced(path):
        raise UserError(
            f"simulate: --svg {path}: the file exists and is not an SVG",
            "only an SVG file is overwritten; choose another name",
        )
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UserError(f"simulate: --svg {path}: you may not write to it")


def _may_be_replaced(path: str) -> bool:
    """A device such as /dev/stdout loses nothing, an empty file neither."""
    if os.path.isdir(path):
        return False
    if os.path.exists(path) and not os.path.isfile(path):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(len(SVG)) in (SVG, b"")
    except OSError:
        return False


def write(path: str, drawing: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(drawing)
