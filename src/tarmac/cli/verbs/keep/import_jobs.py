"""`tarmac import`: read jobs that `tarmac export` or the setting `history_dump` wrote."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from tarmac.cli.parser import Values

LONGEST = 64 << 20  # bytes of a line


def run(values: Values, words: list[str]) -> int:
    from tarmac.client.history.exports import Import

    if len(words) != 1:
        raise UserError("import: give one file", "tarmac import jobs.jsonl, or - for standard input")
    client = connect()
    with _opened(words[0]) as file:
        # Everything is checked before anything is imported.
        trial, above, jobs = Import(client, dry_run=True), 0, 0
        for number, line, size in _lines(file, words[0]):
            above = max(above, _id_of(line))
            jobs += "job" in line
            trial.take(number, line, size)
        trial.finish()
        file.seek(0)
        importing = Import(client, above=above)
        if not values["dry_run"]:
            for number, line, size in _lines(file, words[0]):
                importing.take(number, line, size)
            importing.finish()
    added, known = importing.added, importing.known
    was = "was" if known == 1 else "were"
    if values["json"]:
        out_json({"added": added, "known": known})
    elif values["dry_run"]:
        err(f"the file is right: {counted(jobs, 'job')}; nothing was imported\n")
    else:
        err(f"imported {counted(added, 'job')}" + (f"; {known:,} {was} here already" if known else "") + "\n")
    return 0


def _opened(path: str) -> BinaryIO:
    """Standard input is copied to a private file first, because it is read twice."""
    if path != "-":
        try:
            return open(path, "rb")
        except OSError as error:
            raise UserError(
                f"import: cannot read {path}: {error.strerror}", "give a file that `tarmac export` wrote"
            ) from None
    import shutil
    import sys
    import tempfile

    file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(sys.stdin.buffer, file)
    file.seek(0)
    return file


def _lines(file: BinaryIO, path: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Number, content and size of each line."""
    from tarmac.client.fast.json_codec import decode

    has_header = False
    number = 0
    while text := file.readline(LONGEST + 1):
        number += 1
        if not text.strip():
            continue
        try:
            line = decode(text.decode("utf-8")) if len(text) <= LONGEST else None
        except ValueError:
            line = None
        is_header = isinstance(line, dict) and isinstance(line.get("tarmac_export"), int)
        if not has_header and not is_header:
            raise UserError(f"import: {path} is not a file of exported jobs", "give a file that `tarmac export` wrote")
        if not isinstance(line, dict):
            raise UserError(
                f"import: line {number} of {path} is not JSON", "the file is damaged; export the jobs again"
            )
        has_header = True
        yield number, line, len(text)
    if not has_header:
        raise UserError(f"import: {path} is empty", "give a file that `tarmac export` wrote")


def _id_of(line: dict[str, Any]) -> int:
    job, original = line.get("job"), line.get("original")
    numbers = [part.get("id") for part in (job, original) if isinstance(part, dict)]
    return max((number for number in numbers if isinstance(number, int) and number < 2**53), default=0)


VERB = Verb(
    "import",
    "read exported jobs into this queue",
    usage=("tarmac import FILE|- [options]",),
    run=run,
    options=(Option("--dry-run", None, "only check the file"), JSON),
    examples=(
        ("tarmac import jobs.jsonl", "what `tarmac export` wrote"),
        ("zcat jobs.jsonl.gz | tarmac import -", "from a compressed file"),
    ),
    notes=(
        "A job that this queue already has is not added again, so you can import a file twice.",
        "A job keeps its id if this queue never gave it to another; otherwise it gets a new one.",
        "Only admins may import jobs of other users.",
    ),
)
