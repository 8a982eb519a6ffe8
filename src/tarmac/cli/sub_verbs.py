"""Verbs that other verbs follow: `tarmac queue pause`, `tarmac gpu drain`, `tarmac notify ls`."""

from __future__ import annotations

from tarmac.cli.parser import shown
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run_sub_verb(name: str, verbs: Sequence[str], words: Sequence[str], advice: str) -> int:
    """Run the verb that the first word names. `advice`: what people who give another word may look for."""
    from tarmac.cli.main import run_verb, verb_named

    if words and words[0] in verbs:
        return run_verb(verb_named(f"{name} {words[0]}"), words[1:])
    listed = f"use {', '.join(verbs[:-1])} or {verbs[-1]}; {advice}"
    if not words:
        raise UserError(f"{name}: no verb given", listed)
    from tarmac.typed.suggest import nearest

    meant = nearest(words[0], verbs)
    hint = f"did you mean `tarmac {name} {meant}`?" if meant else listed
    raise UserError(f"{name}: unknown verb {shown(words[0])}", hint)
