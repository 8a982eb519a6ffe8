"""`tarmac queue`: show the state of the queue; its verbs pause, resume, drain and stop it."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.sub_verbs import run_sub_verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

VERBS = ("pause", "resume", "drain", "stop")


def run(values: Values, words: list[str]) -> int:
    return run_sub_verb("queue", VERBS, words, "to queue a command: `tarmac add`") if words else _show(values)


def _show(values: Values) -> int:
    from tarmac.cli.render.queue_mode import facts, folded
    from tarmac.cli.session import connect
    from tarmac.cli.term.terminal import has_colours, out, out_json, paint, width

    queue = connect().queue()
    if values["json"]:
        out_json(queue)
        return 0
    found = list(facts(queue))
    wide = max(len(name) for name, _, _ in found)
    for name, text, style in found:
        words = "\n".join(folded(text, width(), wide + 2))
        label = name.ljust(wide)
        out(f"{paint(label, 'dim')}  {paint(words, style)}\n" if has_colours() else f"{label}  {words}\n")
    return 0


VERB = Verb(
    "queue",
    "show, pause, resume, drain or stop the queue",
    usage=("tarmac queue [--json]", "tarmac queue VERB …"),
    run=run,
    options=(JSON,),
    is_prefix=True,
    verbs=VERBS,
    examples=(
        ("tarmac queue", "whether it is paused, since when and why"),
        ("tarmac queue pause --reason 'new driver'", "start no more jobs; running jobs continue"),
        ("tarmac queue resume", "start jobs again"),
        ("tarmac queue stop --requeue", "also stop the running jobs and requeue them first"),
    ),
    notes=(
        "Changes apply at once and survive restarts.",
        "Only admins can change it: root, the user who runs Tarmac, and those in `tarmac set admins`.",
    ),
)
