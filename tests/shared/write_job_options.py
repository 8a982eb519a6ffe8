"""Writes what is made from the table of job options: the client's types and the docs' tables.

python -m tests.shared.write_job_options
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tarmac.shared.job_options import JOB_OPTIONS, JobOption
from tarmac.typed.option_groups import OPTION_GROUPS

ROOT = Path(__file__).parents[2]
REQUEST_TYPES = {
    "texts": "Sequence[str]", "gpus": "Sequence[int | str]", "path": "str | os.PathLike[str]", "moment": "float",
    "memory": "int | str", "snapshot": "bool | int",
}  # fmt: skip
RECORD_TYPES = {"texts": "list[str]", "gpus": "list[int | str]", "moment": "datetime", "memory": "int"}
WIRE_TYPES = {"texts": "list of strings", "gpus": "list", "path": "string", "moment": "number", "str": "string",
              "int": "whole number", "memory": "whole number or `auto`",
              "float": "number", "bool": "true or false", "snapshot": "whole number or false"}  # fmt: skip


def request_types() -> Iterator[str]:
    """The fields of JobOptions in client/requests.py."""
    for option in JOB_OPTIONS:
        if option.wire:
            yield f"        {option.wire}: {REQUEST_TYPES.get(option.type, option.type)} | None{_comment(option)}"


def record_types() -> Iterator[str]:
    """The fields of Job in client/records.py."""
    for option in JOB_OPTIONS:
        if option.view:
            kind = RECORD_TYPES.get(option.type, option.type) + (" | None" if option.is_nullable else "")
            comment = "" if option.type == "moment" else _comment(option)  # the note is about the number on the wire
            yield f"    {option.view}: {kind}{comment}"


def cli_table() -> Iterator[str]:
    """A table for each group of options."""
    by_flag = {option.flag: option for option in JOB_OPTIONS if option.verbs}
    for title, flags in OPTION_GROUPS:
        group = [by_flag[flag] for flag in flags if flag in by_flag]
        if group:
            yield from (f"**{title}**", "", "| option | meaning |", "|---|---|", *map(_cli_row, group), "")


def _cli_row(option: JobOption) -> str:
    flags = f"`{option.short}`, " if option.short else ""
    flags += f"`{option.flag}{f' {option.metavar}' if option.metavar else ''}`"
    words = f"{option.help}. {option.details}" if option.details else option.help
    return f"| {flags} | {_verbs(option)}{_cell(words)} |"


def api_table() -> Iterator[str]:
    yield "| field | type | as in `tarmac add` | note |"
    yield "|---|---|---|---|"
    for option in JOB_OPTIONS:
        if option.wire:
            yield f"| `{option.wire}` | {WIRE_TYPES[option.type]} | `{option.flag}` | {_cell(option.note)} |"


def _comment(option: JobOption) -> str:
    return f"  # {option.note}" if option.note else ""


def _verbs(option: JobOption) -> str:
    return "(`add` only) " if option.verbs == ("add",) else ""


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


PLACES: dict[str, tuple[str, str, Callable[[], Iterator[str]]]] = {
    "src/tarmac/client/requests.py": ("        # Options, written", "        # End of the options.", request_types),
    "src/tarmac/client/records.py": ("    # Options, written", "    # End of the options.", record_types),
    "docs/cli.md": ("<!-- options: begin", "<!-- options: end", cli_table),
    "docs/api.md": ("<!-- options: begin", "<!-- options: end", api_table),
}


def rewritten(place: str) -> str:
    begin, end, lines = PLACES[place]
    before, _, rest = (ROOT / place).read_text(encoding="utf-8").partition(begin)
    first, _, rest = rest.partition("\n")
    _, _, after = rest.partition(end)
    gap = "\n" if place.endswith(".md") else ""
    return f"{before}{begin}{first}\n{gap}" + "".join(f"{line}\n" for line in lines()) + f"{gap}{end}{after}"


if __name__ == "__main__":
    for name in PLACES:
        (ROOT / name).write_text(rewritten(name), encoding="utf-8")
