"""`tarmac queue`: how the queue as a whole is; its verbs pause it, let it go on, empty it and stop it."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb, shown
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

VERBS = ("pause", "resume", "drain", "stop")


def run(values: Values, words: list[str]) -> int:
    from tarmac.cli.main import run_verb, verb_named

    if words and words[0] in VERBS:
        return run_verb(verb_named(f"queue {words[0]}"), words[1:])
    if words:
        raise _unknown(words[0])
    return _show(values)


def _show(values: Values) -> int:
    from tarmac.cli.render.queue_mode import facts, folded
    from tarmac.cli.session import connect
    from tarmac.cli.term.terminal import has_colours, out, out_json, paint, width

    queue = connect().queue()
    if values["json"]:
        out_json(queue)
        return 0
    for name, text, style in facts(queue):
        words = "\n".join(folded(text, width(), 8))
        label = name.ljust(6)
        out(f"{paint(label, 'dim')}  {paint(words, style)}\n" if has_colours() else f"{label}  {words}\n")
    return 0


def _unknown(word: str) -> UserError:
    from tarmac.cli.suggest import nearest

    listed = f"one of {', '.join(VERBS)}; to queue a command: `tarmac add`"
    meant = nearest(word, VERBS)
    return UserError(f"queue: no verb {shown(word)}", f"did you mean `tarmac queue {meant}`?" if meant else listed)


VERB = Verb(
    "queue",
    "how the queue is; pause, resume, drain or stop it",
    usage=("tarmac queue [--json]", "tarmac queue VERB …"),
    run=run,
    options=(JSON,),
    is_prefix=True,
    verbs=VERBS,
    examples=(
        ("tarmac queue", "whether it is paused, since when and why"),
        ("tarmac queue pause --reason 'new driver'", "nothing more starts; what runs goes on"),
        ("tarmac queue resume", "go on"),
        ("tarmac queue stop --requeue", "stop what runs too, and put it back in front"),
    ),
    notes=(
        "All of it is in force at once and kept over restarts.",
        "Only admins change it: root, whoever runs Tarmac, and those of `tarmac set admins`.",
    ),
)
