"""`tarmac gpu VERB`: drain and resume GPUs, set slots, forget lost GPUs, ignore foreign processes."""

from __future__ import annotations

from tarmac.cli.parser import Verb
from tarmac.cli.sub_verbs import run_sub_verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

VERBS = ("drain", "resume", "forget", "slots", "ignore-process")


def run(_: Values, words: list[str]) -> int:
    return run_sub_verb("gpu", VERBS, words, "`tarmac gpus` shows the GPUs")


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
