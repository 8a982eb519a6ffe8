"""GPU arguments: indices, ranges, UUIDs, `all`. The same for every verb about GPUs."""

from __future__ import annotations

from tarmac.errors import UserError
from tarmac.typed.values import gpus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client import Client

NOTE = "GPU is an index, a list (0,2 or 0-3), a UUID, or `all`; with several nodes, NODE:INDEX or NODE:all."


def gpus_of(verb: str, words: Sequence[str]) -> list[str]:
    """The words with commas and ranges expanded. The controller checks whether the GPUs exist."""
    if not words:
        raise UserError(f"{verb}: no GPUs given", f"give indices or UUIDs: `tarmac {verb} 0,2`, `0-3`, or `all`")
    named: list[str] = []
    for part in [part.strip() for word in words for part in word.split(",") if part.strip()]:
        named += [part] if not part[0].isdecimal() or ":" in part else map(str, _indices(verb, part))
    return list(dict.fromkeys(named))


def _indices(verb: str, part: str) -> list[int]:
    try:
        return gpus(part)
    except ValueError as error:
        raise UserError(f"{verb}: {part}: {error}", NOTE) from None


def resolved(client: Client, named: list[str]) -> list[str]:
    """Expand `all` to the current GPUs."""
    return [gpu.uuid for gpu in client.gpus()] if "all" in named else named


def in_words(named: list[str]) -> str:
    if "all" in named:
        return "all GPUs"
    return f"{'GPU' if len(named) == 1 else 'GPUs'} {', '.join(named)}"
