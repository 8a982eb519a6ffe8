"""An option and how its argument is read, and words as they are shown in messages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Values: TypeAlias = dict[str, Any]


NONE = "none"  # clears an option; also the value of a flag that is switched off
SHOWN = 200  # characters of a wrong word in a message


class Option:
    """`read` converts the option's argument to its value; None for a flag without an argument.

    `takes`: its argument may be missing; the next word is its argument only if this says so.
    `can_negate`: of a flag `--x`, `--no-x` switches off what a default or a template switched on.
    """

    __slots__ = ("can_negate", "has_many", "help", "is_secret", "long", "metavar", "name", "read", "short", "takes")

    def __init__(
        self,
        long: str,
        short: str | None,
        help: str,  # noqa: A002
        metavar: str | None = None,
        read: Callable[[str], object] | None = None,
        *,
        has_many: bool = False,
        is_secret: bool = False,  # no message repeats what follows a `=` in its argument
        can_negate: bool = False,
        takes: Callable[[str], bool] | None = None,
    ) -> None:
        self.can_negate = can_negate
        self.takes = takes
        self.long = long
        self.short = short
        self.help = help
        self.metavar = metavar
        self.read = read if read is not None or metavar is None else text
        self.has_many = has_many
        self.is_secret = is_secret
        self.name = long[2:].replace("-", "_")


def shown(word: str) -> str:
    """A word as typed, safe to print."""
    word = word if len(word) <= SHOWN else f"{word[:SHOWN]}…"
    return word if word.isprintable() and word else repr(word)


def text(word: str) -> str:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("it is not UTF-8") from None
    return word
