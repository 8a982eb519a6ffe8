"""`tarmac diff`: what changed since a job's snapshot, or between those of two jobs."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, paint
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.shared.snapshots.compare import Difference, Side

DIFFERENT = 1
STYLES = {"@": "cyan", "-": "red", "+": "green", "d": "bold", "n": "bold", "o": "bold"}
HEADINGS = ("diff --tarmac", "--- ", "+++ ", "new ", "old ", "deleted ")
LETTERS = {"added": "A", "removed": "D", "changed": "M"}


def run(values: Values, words: list[str]) -> int:
    from tarmac.client.snapshots.diff.difference import compared

    if not 1 <= len(words) <= 2:
        raise UserError(f"diff: expected one or two jobs, got {len(words)}", "run `tarmac diff 7` or `tarmac diff 7 9`")
    client = connect()
    found = compared(client, *words)
    _warn_of_changes(client, *words)
    try:
        if values["json"]:
            out_json([{"path": _text(one.path), "change": one.kind} for one in found.differences])
        elif values["names"]:
            out("".join(f"{LETTERS[one.kind]} {safe(_text(one.path))}\n" for one in found.differences))
        else:
            _print(found.differences, found.before, found.after)
    finally:
        found.close()
    return DIFFERENT if found.differences else 0


def _warn_of_changes(client: Client, word: str, other: str | None = None) -> None:
    """Say how the Python environment differs from that of the job, which no file of its code shows."""
    from tarmac.cli.render.show.environment import difference, warning

    first = client.job(word)
    if other is None:
        changes = client.python_changes(first)
        if changes:
            err(warning([first.id], changes))
        return
    second = client.job(other)
    err(difference(first, second))


def _text(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def _print(differences: Iterable[Difference], before: Side, after: Side) -> None:
    from tarmac.shared.snapshots.compare import text_of

    colours = has_colours()
    for difference in differences:
        lines = text_of(difference, before, after)
        out("".join(f"{line}\n" for line in (_painted(lines) if colours else map(safe_line, lines))))


def _painted(lines: Iterable[str]) -> Iterator[str]:
    is_heading = True
    for line in lines:
        is_heading = (is_heading and not line.startswith("@@")) or line.startswith("diff --tarmac")
        style = "bold" if is_heading else STYLES.get(line[:1]) if line[:1] in "@-+" else None
        yield paint(safe_line(line), style)


def safe_line(line: str) -> str:
    """Control characters are shown, but tabs are left as they are."""
    return "\t".join(safe(part) for part in line.split("\t"))


VERB = Verb(
    "diff",
    "show what changed since a job was submitted",
    usage=("tarmac diff ID [ID]",),
    run=run,
    options=(Option("--names", None, "only the names, with A (added), D (deleted) or M (modified)"), JSON),
    examples=(
        ("tarmac diff 7", "job 7 and the files in its original directory now"),
        ("tarmac diff 7 9", "the code of job 7 and that of job 9"),
        ("tarmac diff 7 | less", "page by page"),
    ),
    notes=(
        "If Python or a package changed since the job ran, or differs between the two jobs, stderr says what.",
        "Exits with 0 if nothing differs, with 1 if something does. The jobs need a snapshot: see --snapshot of add.",
    ),
)
