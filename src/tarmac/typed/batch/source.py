"""A batch as text: its lines, its format, and its mistakes in words."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple, TypeAlias, get_args

from tarmac.errors import UserError
from tarmac.typed.batch.parts import COMMENT, Mistake
from tarmac.typed.batch.table import is_header
from tarmac.typed.suggest import not_a_choice

Format: TypeAlias = Literal["lines", "shell", "csv", "jsonl", "gpupeasy"]
FORMATS: tuple[Format, ...] = get_args(Format)
EXTENSIONS: dict[str, Format] = {
    ".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".sh": "shell",
}  # fmt: skip
MOST_SHOWN = 20  # mistakes


class Source(NamedTuple):
    """`name` is the file as the user wrote it, for messages."""

    name: str
    lines: list[str]


def source_of(name: str, text: str) -> Source:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return Source(name, [line.removesuffix("\r") for line in lines])


def format_of(source: Source) -> Format:
    """By the extension of the file, otherwise by its first line with content."""
    known = EXTENSIONS.get(os.path.splitext(source.name)[1].lower())
    if known is not None:
        return known
    first = next((line for line in source.lines if line.strip() and not line.lstrip().startswith(COMMENT)), "")
    if first.lstrip().startswith("{"):
        return "jsonl"
    if first.count(";;") >= 2:
        return "gpupeasy"
    return "csv" if is_header(first) else "lines"


def format_named(word: str) -> Format:
    for form in FORMATS:
        if form == word.lower():
            return form
    raise ValueError(not_a_choice([word], FORMATS))


def refuse(source: Source, mistakes: list[Mistake]) -> UserError:
    """The mistakes, the first ones in full, each with its place."""
    mistakes = sorted(mistakes, key=lambda mistake: mistake[:2])
    shown = [f"{source.name}:{line}:{column}: {message}" for line, column, message in mistakes[:MOST_SHOWN]]
    if len(mistakes) > MOST_SHOWN:
        shown.append(f"… and {len(mistakes) - MOST_SHOWN:,} more")
    count = "a mistake" if len(mistakes) == 1 else f"{len(mistakes):,} mistakes"
    return UserError("\n".join([f"add: {source.name} has {count}; nothing was queued", *shown]))
