"""The rows of `sweep --from FILE`: read and decoded."""

from __future__ import annotations

from tarmac.cli.files.reading import read_file
from tarmac.errors import UserError
from tarmac.typed.option import shown
from tarmac.typed.sweep.tables import rows_of

LARGEST_BYTES = 256 << 20


def read_rows(path: str) -> list[dict[str, str]]:
    return rows_of(_content(path), path)


def _content(path: str) -> str:
    try:
        data = read_file(path, LARGEST_BYTES)
    except OSError as error:
        raise UserError(f"sweep: --from {shown(path)}: {error.strerror}", "give a file that you can read") from None
    if data is None:
        raise UserError(f"sweep: --from {shown(path)} is larger than {LARGEST_BYTES >> 20} MB", "split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"sweep: --from {shown(path)} is not UTF-8 (byte {error.start})", "save it as UTF-8") from None
