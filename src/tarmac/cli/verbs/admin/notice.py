"""`tarmac notice`: show a notice to all users, above `ls` and `gpus`."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, say, width
from tarmac.errors import UserError
from tarmac.shared.names import LONGEST_NOTICE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client.answers import Notice


def run(values: Values, words: list[str]) -> int:
    if values["clear"] and words:
        raise UserError("notice: --clear takes no text", "run `tarmac notice TEXT` to replace the notice")
    text = " ".join(words).strip()
    if words and not text:
        raise UserError("notice: the text is empty", "run `tarmac notice --clear` to remove the notice")
    if len(text) > LONGEST_NOTICE:
        raise UserError(f"notice: the text has {len(text)} characters; the limit is {LONGEST_NOTICE}", "shorten it")
    client = connect()
    if values["clear"]:
        client.clear_notice()
        say("the notice is cleared")
    elif words:
        client.set_notice(text)
        say("`tarmac ls` and `tarmac gpus` show it from now on; `tarmac notice --clear` removes it")
    if values["json"]:
        out_json({"notice": client.notice()})
    elif not words and not values["clear"]:
        _show(client.notice())
    return 0


def _show(notice: Notice | None) -> None:
    from tarmac.cli.render.notice import notice_lines

    if notice is None:
        err("No notice. Admins can set one: `tarmac notice 'driver update at 18:00'`.\n")
    else:
        out("\n".join(notice_lines(notice, width(), has_colours=has_colours())) + "\n")


VERB = Verb(
    "notice",
    "show a notice to all users, above `ls` and `gpus`",
    usage=("tarmac notice [TEXT]", "tarmac notice --clear"),
    run=run,
    options=(Option("--clear", None, "remove the notice"), JSON),
    examples=(
        ("tarmac notice 'driver update at 18:00'", "replaces the last notice"),
        ("tarmac notice", "the current notice"),
        ("tarmac notice --clear", "remove it"),
    ),
    notes=(
        "`ls` and `gpus` print it on stderr, so that scripts can still read their output.",
        "Only admins can change it: root, the user who runs Tarmac, and those in `tarmac set admins`.",
    ),
)
