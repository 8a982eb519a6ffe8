"""`tarmac gpu VERB`: drain and resume GPUs, set slots, forget lost GPUs, ignore foreign processes."""

from __future__ import annotations

from tarmac.cli.parser import Verb, shown
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

VERBS = ("drain", "resume", "forget", "slots", "ignore-process")


def run(_: Values, words: list[str]) -> int:
    from tarmac.cli.main import run_verb, verb_named

    if words and words[0] in VERBS:
        return run_verb(verb_named(f"gpu {words[0]}"), words[1:])
    raise _unknown(words)


def _unknown(words: list[str]) -> UserError:
    from tarmac.cli.suggest import nearest

    listed = f"one of {', '.join(VERBS)}; `tarmac gpus` shows the GPUs"
    if not words:
        return UserError("gpu: no verb given", listed)
    meant = nearest(words[0], VERBS)
    return UserError(f"gpu: unknown verb {shown(words[0])}", f"did you mean `tarmac gpu {meant}`?" if meant else listed)


VERB = Verb(
    "gpu",
    "drain or resume GPUs, share them in slots, ignore foreign processes",
    usage=("tarmac gpu VERB …",),
    run=run,
    is_prefix=True,
    verbs=VERBS,
    examples=(
        ("tarmac gpu drain 0 --reason 'new fan'", "start no more jobs on it"),
        ("tarmac gpu resume 0", "use it again"),
        ("tarmac gpu forget gone", "remove GPUs that were taken out"),
        ("tarmac gpu slots 0-3 2", "two jobs on each of four GPUs"),
        ("tarmac gpu ignore-process Xorg", "never blocks a GPU"),
    ),
    notes=("Changes apply at once and survive restarts. `tarmac gpus` lists the GPUs.",),
)
