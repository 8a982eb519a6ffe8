"""`tarmac note`: write down what a job was about, in any state."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of
from tarmac.cli.parser import JSON, NONE, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out, out_json, say
from tarmac.client.changes import label as relabel
from tarmac.errors import UserError
from tarmac.shared.units import jobs_named
from tarmac.typed.values import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if not words:
        raise UserError("note: give a job and a text", "quote the text: `tarmac note 7 'diverges after 900 steps'`")
    if len(words) == 1 and not filters_of(values):
        return _print(words[0], is_json=values["json"])
    try:
        text = None if words[-1] in {NONE, ""} else note(words[-1])
    except ValueError as error:
        raise UserError(f"note: the note is wrong: {error}") from None
    numbers = relabel(connect(), ids_of(words[:-1]), filters_of(values), set_note=text)  # type: ignore[arg-type]
    if values["json"]:
        out_json({"ids": numbers, "note": text})
    who = jobs_named(numbers)
    say(f"removed the note of {who}" if text is None else f"noted for {who}")
    return 0


def _print(word: str, *, is_json: bool) -> int:
    (job,) = ids_of([word])
    shown = connect().job(job)
    lines = (shown.note or "").splitlines()
    out_json({"ids": [shown.id], "note": shown.note}) if is_json else out("".join(f"{safe(line)}\n" for line in lines))
    return 0


VERB = Verb(
    "note",
    "write or print a note about a job, even after it has ended",
    usage=("tarmac note ID… TEXT", "tarmac note ID"),
    run=run,
    options=(*FILTERS, JSON),
    examples=(
        ("tarmac note 7 'diverges after 900 steps'", "`tarmac show` shows it, `tarmac history --search` finds it"),
        ("tarmac note 7", "print the note"),
        ("tarmac note 7 none", "remove it"),
    ),
    notes=(IDS_NOTE,),
)
