"""`tarmac why`: explain why a job does not run yet, and when it may start."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, numbers_of
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import cells, safe, wrapped
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import has_colours, out, out_json, paint, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client.answers import Why


def run(values: Values, words: list[str]) -> int:
    client = connect()
    answers = [client.why(job) for job in numbers_of(client, values, words)]
    if values["json"]:
        out_json(answers)
        return 0
    columns, colours = width(), has_colours()
    for index, answer in enumerate(answers):
        text = lines(answer, width=columns, has_colours=colours)
        out(("\n" if index else "") + "\n".join(text) + "\n")
    return 0


def lines(answer: Why, *, width: int | None, has_colours: bool) -> list[str]:
    """The controller's sentences, the first as a title; long ones wrap with an indent."""
    text: list[str] = []
    for line in answer["lines"]:
        folded = _folded(safe(line), width)
        text += [paint(part, "bold") for part in folded] if has_colours and not text else folded
    return text


def _folded(line: str, width: int | None) -> list[str]:
    if width is None or cells(line) <= width:
        return [line]
    words = line.lstrip(" ")
    indent = len(line) - len(words)
    room = max(20, width - indent - 2)
    first, *rest = wrapped(words, room)
    return [" " * indent + first, *[" " * (indent + 2) + part for part in rest]]


VERB = Verb(
    "why",
    "explain why a job has not started, and when it may",
    usage=("tarmac why [ID…] [options]",),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac why 7", "its place, what is free, and what it waits for"),
        ("tarmac why last --json | jq '.[0].reasons'", "your newest job; JSON is always a list"),
    ),
    notes=(IDS_NOTE, "The default is `last`. A ~ marks an estimate; the last line says what it is based on."),
)
