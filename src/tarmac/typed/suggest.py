"""Suggests a known word for a mistyped one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def nearest(word: str, known: Collection[str], cutoff: float = 0.7) -> str | None:
    from difflib import get_close_matches

    matches = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def not_a_choice(wrong: Sequence[str], known: Sequence[str], *, has_many: bool = False) -> str:
    """What to say about words that are none of the known ones."""
    said = f"it must be one or more of {', '.join(known)}, separated by commas" if has_many else None
    said = said or f"it must be one of {', '.join(known)}"
    near = [found for word in wrong if (found := nearest(word.lower(), known, cutoff=0.6)) is not None]
    return f"{said}; did you mean {','.join(dict.fromkeys(near))}?" if near else said
