"""The file of --svg. An existing SVG is overwritten; any other file is left alone."""

from __future__ import annotations

import os

from tarmac import paths
from tarmac.errors import UserError
from tarmac.shared.own.files import OwnFiles

SVG = b"<svg"


def check(path: str) -> None:
    """Check the path before the simulation, so that a typo does not waste hours."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UserError(f"simulate: --svg {path}: directory {folder} does not exist")
    if OwnFiles((paths.state_folder(), os.path.dirname(paths.config_path()))).includes(path):
        raise UserError(
            f"simulate: --svg {path} is reserved for Tarmac's own files",
            "choose a file outside of Tarmac's directories",
        )
    if os.path.lexists(path) and not _may_be_replaced(path):
        raise UserError(
            f"simulate: --svg {path}: the file exists and is not an SVG",
            "only an SVG file is overwritten; choose another name",
        )
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UserError(f"simulate: --svg {path}: you may not write to it")


def _may_be_replaced(path: str) -> bool:
    """True for an SVG, an empty file, and a device such as /dev/stdout."""
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
