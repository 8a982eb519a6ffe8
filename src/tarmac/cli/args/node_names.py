"""Names of nodes as arguments: one, or several with blanks or commas between them."""

from __future__ import annotations

from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def nodes_of(verb: str, words: Sequence[str]) -> list[str]:
    names = [part.strip() for word in words for part in word.split(",") if part.strip()]
    if not names:
        raise UserError(f"{verb}: no node given", f"name one: `tarmac {verb} NODE`; `tarmac node ls` lists the nodes")
    return list(dict.fromkeys(names))


def node_of(verb: str, words: Sequence[str]) -> str:
    names = nodes_of(verb, words)
    if len(names) > 1:
        raise UserError(f"{verb} takes one node", f"name one: `tarmac {verb} {names[0]}`")
    return names[0]
