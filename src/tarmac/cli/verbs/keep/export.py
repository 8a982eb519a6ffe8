"""`tarmac export`: write ended jobs to a file, one JSON line each."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, ids_of, query_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import STDOUT, err, is_terminal, out_bytes, out_json
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if not words and is_terminal(STDOUT):
        raise UserError("export: no file given", "give a new file, or - for standard output")
    path, ids = words[0] if words else "-", words[1:]
    if path != "-" and path.replace("-", "").isdecimal():
        raise UserError(f"export: {path} looks like a job id", "give the file first: tarmac export jobs.jsonl 3-7")
    ids_of(ids)
    lines = _lines(values, ids)
    if path == "-":
        if values["json"]:
            raise UserError("export: --json cannot be used together with -", "the lines are JSON already")
        _write(lines, out_bytes)
        return 0
    from tarmac.cli.files.new_file import new_file

    with new_file("export", path) as new:
        count = _write(lines, new.file.write)
    if values["json"]:
        out_json({"file": path, "jobs": count})
    else:
        err(f"exported {counted(count, 'job')}\n")
    return 0


def _lines(values: Values, ids: list[str]) -> Iterator[dict[str, object]]:
    from tarmac.client.history.exports import exported

    query = query_of(values, ids)
    more = {"with_environment": values["with_environment"], "with_logs": values["with_logs"]}
    return exported(connect(), query, **more)


def _write(lines: Iterator[dict[str, object]], write: Callable[[bytes], object]) -> int:
    from tarmac.client.fast.json_codec import encode

    count = 0
    for line in lines:
        write(encode(line).encode() + b"\n")
        count += "job" in line
    return count


VERB = Verb(
    "export",
    "write ended jobs to a file, one JSON line each",
    usage=("tarmac export [FILE|-] [ID…] [options]",),
    run=run,
    options=(
        Option("--with-logs", None, "also their logs in Tarmac's directory"),
        Option("--with-environment", None, "also their environments, without the values of secrets"),
        *FILTERS,
        JSON,
    ),
    examples=(
        ("tarmac export jobs.jsonl", "all jobs that have ended"),
        ("tarmac export sweep.jsonl --tag sweep --with-logs", "those with a tag, and what they wrote"),
        ("tarmac export - 3-7 | jq .job.state", "these, to a program"),
    ),
    notes=(
        "Jobs that have not ended are left out. `tarmac import` reads the file, here or in another queue.",
        "The first line is a header. Each job has its attempts, its story, what it used and its group.",
    ),
)
